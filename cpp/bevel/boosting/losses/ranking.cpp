// Losses of rankings: pairs of rows of one query, of which the more relevant one should be first.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "bevel/boosting/losses/loss.h"
#include "bevel/random/stream.h"
#include "bevel/support/arithmetic/exponential.h"
#include "bevel/support/arithmetic/logarithm.h"
#include "bevel/support/cancellation.h"
#include "bevel/support/check.h"

namespace bevel {
namespace {

constexpr double kMaxRelevance = 30.0;  // of which the gain, 2^relevance - 1, is still exact
// Pairs have a row among the first eval_at + kMoreFirst of the present ranking.
constexpr int64_t kMoreFirst = 20;
// Differences of scores below this do not make a pair more important.
constexpr double kMinDifference = 0.01;

// Rows query after query: those of query q are rows[first[q]] .. rows[first[q + 1] - 1].
struct Queries {
  std::vector<uint32_t> rows;
  std::vector<size_t> first;

  size_t size() const { return first.size() - 1; }
  std::span<const uint32_t> of(size_t q) const {
    return std::span(rows).subspan(first[q], first[q + 1] - first[q]);
  }
};

double log2_of(double x) { return fixed_log(x) * 1.4426950408889634074; }

// The logistic loss of pairs, each weighted by the change of NDCG if its two rows were swapped
// (LambdaMART: Burges 2010), or all alike. The loss that is measured is minus NDCG at eval_at.
class RankingLoss : public Loss {
 public:
  RankingLoss(const BoostingOptions& options, const BoostingTarget& target, bool weighs_by_gain)
      : Loss(options, target), weighs_by_gain_(weighs_by_gain) {
    require_one_output();
    require_one_quantile();
    require(target.groups != nullptr, "[boost] rankings need the query of each row");
    require(options.eval_at >= 1, "[boost] eval_at");
  }

  void check_targets(size_t n_rows) const override {
    for (size_t row = 0; row < n_rows; ++row) {
      const double value = target_.values[row];
      require(value >= 0.0 && value <= kMaxRelevance, "[boost] relevance out of range");
      require(target_.groups[row] < n_rows, "[boost] query out of range");
    }
  }
  std::vector<double> baseline(std::span<const uint32_t>) const override { return {0.0}; }

  void begin_iteration(const RawPredictions& raw, std::span<const uint32_t> rows,
                       Team& team) override {
    if (training_.rows.empty()) prepare(raw.n_rows, rows);
    gradients_.resize(raw.n_rows);
    const double* x = raw.output(0);
    team.run(training_.size(), true, [&](size_t q) { set_gradients(x, training_.of(q)); });
  }
  void gradients(const RawPredictions&, std::span<const uint32_t> rows, size_t,
                 std::vector<Gradient>& out) const override {
    for (const uint32_t row : rows) {
      const double weight = target_.weight(row);
      out[row] = {weight * gradients_[row].gradient, weight * gradients_[row].hessian};
    }
  }

  // Minus the mean NDCG of queries; queries without a relevant row do not count.
  double mean(const RawPredictions& raw, std::span<const uint32_t> rows,
              Team& team) const override {
    const Queries queries = group(rows, raw.n_rows);
    std::vector<double> found(queries.size());
    team.run(queries.size(), true, [&](size_t q) {
      poll_cancellation(queries.of(q).size() * 16);
      found[q] = ndcg(raw.output(0), queries.of(q));
    });
    double sum = 0.0, total = 0.0;
    for (size_t q = 0; q < queries.size(); ++q) {
      if (found[q] < 0.0) continue;
      const double weight = mean_weight(queries.of(q));
      sum -= weight * found[q];
      total += weight;
    }
    return total > 0.0 ? sum / total : 0.0;
  }

 protected:
  void of_rows(const RawPredictions&, std::span<const uint32_t>, double*) const override {}

 private:
  // Rows of weight zero are in no ranking.
  Queries group(std::span<const uint32_t> all, size_t n_rows) const {
    std::vector<uint32_t> rows;
    for (const uint32_t row : all)
      if (target_.weight(row) > 0.0) rows.push_back(row);
    std::vector<size_t> count(n_rows, 0);
    for (const uint32_t row : rows) ++count[target_.groups[row]];
    Queries result;
    result.first.push_back(0);
    for (size_t& size : count) {
      const size_t start = result.first.back();
      if (size) result.first.push_back(start + size);
      size = start;
    }
    result.rows.resize(rows.size());
    for (const uint32_t row : rows) result.rows[count[target_.groups[row]]++] = row;
    return result;
  }

  void prepare(size_t n_rows, std::span<const uint32_t> rows) {
    training_ = group(rows, n_rows);
    size_t longest = 0;
    for (size_t q = 0; q < training_.size(); ++q)
      longest = std::max(longest, training_.of(q).size());
    for (size_t place = 0; place < longest; ++place) discount_.push_back(discount(place));
  }

  double gain(uint32_t row) const {
    return fixed_exp(target_.values[row] * 0.6931471805599453) - 1.0;
  }
  static double discount(size_t place) { return 1.0 / log2_of(static_cast<double>(place) + 2.0); }
  double mean_weight(std::span<const uint32_t> rows) const {
    double sum = 0.0;
    for (const uint32_t row : rows) sum += target_.weight(row);
    return sum / static_cast<double>(rows.size());
  }

  // The largest discounted cumulative gain of these rows among the first `n` places.
  double ideal_gain(std::span<const uint32_t> rows, size_t n) const {
    std::vector<double> gains;
    for (const uint32_t row : rows) gains.push_back(gain(row));
    std::sort(gains.begin(), gains.end(), std::greater<>());
    double sum = 0.0;
    for (size_t i = 0; i < std::min(n, gains.size()); ++i) sum += gains[i] * discount(i);
    return sum;
  }

  // NDCG of a query; -1 without a relevant row. Rows of one score share their places.
  double ndcg(const double* x, std::span<const uint32_t> rows) const {
    const auto n = static_cast<size_t>(options_.eval_at);
    const double ideal = ideal_gain(rows, n);
    if (!(ideal > 0.0)) return -1.0;
    std::vector<uint32_t> order(rows.begin(), rows.end());
    std::sort(order.begin(), order.end(),
              [&](uint32_t a, uint32_t b) { return x[a] != x[b] ? x[a] > x[b] : a < b; });
    double sum = 0.0;
    for (size_t i = 0; i < std::min(n, order.size());) {
      size_t end = i;
      double gains = 0.0, discounts = 0.0;
      for (; end < order.size() && x[order[end]] == x[order[i]]; ++end) {
        gains += gain(order[end]);
        if (end < n) discounts += discount(end);
      }
      sum += gains / static_cast<double>(end - i) * discounts;
      i = end;
    }
    return sum / ideal;
  }

  void set_gradients(const double* x, std::span<const uint32_t> rows) {
    const size_t n = rows.size();
    std::vector<uint32_t> order(rows.begin(), rows.end());
    // The order of rows that tie says nothing of their relevance.
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      if (x[a] != x[b]) return x[a] > x[b];
      const uint64_t key_a = mix(a), key_b = mix(b);
      return key_a != key_b ? key_a < key_b : a < b;
    });
    std::vector<double> gains;
    for (const uint32_t row : order) {
      gains.push_back(gain(row));
      gradients_[row] = {0.0, 0.0};
    }
    const size_t n_first = std::min(n, static_cast<size_t>(options_.eval_at + kMoreFirst));
    const double ideal = ideal_gain(rows, n_first);
    if (!(ideal > 0.0)) return;
    const bool differ = x[order[0]] != x[order[n - 1]];
    double total = 0.0;
    for (size_t i = 0; i < n_first; ++i) {
      poll_cancellation(n * 16);
      for (size_t j = i + 1; j < n; ++j) {
        if (gains[i] == gains[j]) continue;
        const uint32_t better = gains[i] > gains[j] ? order[i] : order[j];
        const uint32_t worse = gains[i] > gains[j] ? order[j] : order[i];
        const double ahead = x[better] - x[worse];
        double weight = 1.0;
        if (weighs_by_gain_) {
          weight = std::fabs(gains[i] - gains[j]) * (discount_[i] - discount_[j]) / ideal;
          if (differ) weight /= kMinDifference + std::fabs(ahead);
        }
        const double wrong =
            1.0 / (1.0 + fixed_exp(std::clamp(ahead, -kMaxExponent, kMaxExponent)));
        const double slope = weight * wrong, curve = slope * (1.0 - wrong);
        gradients_[better].gradient -= slope;
        gradients_[worse].gradient += slope;
        gradients_[better].hessian += curve;
        gradients_[worse].hessian += curve;
        total += 2.0 * slope;
      }
    }
    if (!(total > 0.0)) return;
    // A query with many pairs counts more, but not in proportion to them.
    const double factor = log2_of(1.0 + total) / total;
    for (const uint32_t row : rows) {
      gradients_[row].gradient *= factor;
      gradients_[row].hessian *= factor;
    }
  }

  const bool weighs_by_gain_;
  Queries training_;
  std::vector<double> discount_;     // by place
  std::vector<Gradient> gradients_;  // by row, without weights
};

}  // namespace

std::unique_ptr<Loss> make_lambdarank_loss(const BoostingOptions& options,
                                           const BoostingTarget& target) {
  return std::make_unique<RankingLoss>(options, target, true);
}

std::unique_ptr<Loss> make_pairwise_loss(const BoostingOptions& options,
                                         const BoostingTarget& target) {
  return std::make_unique<RankingLoss>(options, target, false);
}

}  // namespace bevel
