// Risk sets of a node: the rows at risk and the rows with an event at each of its event times.
//
// Times are ranks: the number of the data's event times up to a row's own. A row of rank r that
// entered at rank e is at risk at the event times e + 1 .. r, and an event of rank r happens at
// event time r. Rows that are seen from the start enter at rank 0. Events of several causes
// compete: a row with one is no longer at risk of the others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bevel/support/check.h"

namespace bevel {

struct SurvivalRow {
  double weight;
  uint32_t rank;
  uint32_t entry;  // at most the rank; below it with an event
  uint32_t event;  // 0: censored; else the number of its cause, from 1 on
};

class RiskSets {
 public:
  // Rows by ascending rank.
  void fill(const SurvivalRow* rows, size_t n, size_t n_causes = 1) {
    n_causes_ = n_causes;
    at_risk_from_.resize(n + 1);
    at_risk_from_[n] = 0.0;
    for (size_t i = n; i-- > 0;) at_risk_from_[i] = at_risk_from_[i + 1] + rows[i].weight;
    up_to_.resize(n);
    rank_.clear();
    at_risk_.clear();
    n_at_risk_.clear();
    deaths_.clear();
    bool late = false;
    for (size_t i = 0; i < n;) {
      double deaths = 0.0;
      size_t end = i;
      for (; end < n && rows[end].rank == rows[i].rank; ++end) {
        if (rows[end].event) deaths += rows[end].weight;
        late |= rows[end].entry > 0;
      }
      BEVEL_CHECK(end == n || rows[end].rank > rows[i].rank);
      if (deaths > 0.0) {
        rank_.push_back(rows[i].rank);
        at_risk_.push_back(at_risk_from_[i]);
        n_at_risk_.push_back(n - i);
        deaths_.push_back(deaths);
      }
      for (; i < end; ++i) up_to_[i] = static_cast<uint32_t>(rank_.size());
    }
    entered_.clear();
    if (late) leave_out_late_rows(rows, n);
    hazard_.assign(1, 0.0);
    for (size_t k = 0; k < size(); ++k) hazard_.push_back(hazard_.back() + jump(k));
    if (n_causes_ > 1) fill_causes(rows, n);
  }

  size_t size() const { return rank_.size(); }  // event times of the node
  size_t n_causes() const { return n_causes_; }
  double total_weight() const { return at_risk_from_.empty() ? 0.0 : at_risk_from_[0]; }
  uint32_t rank(size_t k) const { return rank_[k]; }
  double at_risk(size_t k) const { return at_risk_[k]; }
  size_t n_at_risk(size_t k) const { return n_at_risk_[k]; }  // rows
  // Events of all causes together, or of one, from 0 on.
  double deaths(size_t k) const { return deaths_[k]; }
  double deaths(size_t k, size_t cause) const {
    return n_causes_ == 1 ? deaths_[k] : cause_deaths_[k * n_causes_ + cause];
  }
  double jump(size_t k) const { return deaths_[k] / at_risk_[k]; }  // of the hazard
  double jump(size_t k, size_t cause) const { return deaths(k, cause) / at_risk_[k]; }
  uint32_t up_to(size_t row) const { return up_to_[row]; }  // event times up to a row's own
  // Event times before a row entered.
  uint32_t entered(size_t row) const { return entered_.empty() ? 0 : entered_[row]; }
  // The row's event minus its expectation: the log-rank score, or martingale
  // residual, for all causes together. The weighted sum over a node is zero.
  double score(const SurvivalRow* rows, size_t row) const {
    const double seen = rows[row].event ? 1.0 : 0.0;
    const double hazard = hazard_[up_to_[row]];
    return entered_.empty() ? seen - hazard : seen - (hazard - hazard_[entered_[row]]);
  }
  // Nelson-Aalen of one of several causes between two numbers of event times.
  double cause_hazard(size_t cause, uint32_t from, uint32_t to) const {
    return cause_hazard_[to * n_causes_ + cause] - cause_hazard_[from * n_causes_ + cause];
  }

 private:
  // Rows are at risk from their entry on.
  void leave_out_late_rows(const SurvivalRow* rows, size_t n) {
    entered_.resize(n);
    std::vector<double> weight(size() + 1, 0.0);  // by the event times before the entry
    std::vector<size_t> count(size() + 1, 0);
    for (size_t i = 0; i < n; ++i) {
      const auto place = std::upper_bound(rank_.begin(), rank_.end(), rows[i].entry);
      entered_[i] = static_cast<uint32_t>(place - rank_.begin());
      weight[entered_[i]] += rows[i].weight;
      ++count[entered_[i]];
    }
    double outside = 0.0;
    size_t n_outside = 0;
    for (size_t k = size(); k-- > 0;) {
      outside += weight[k + 1];
      n_outside += count[k + 1];
      // Sums of real weights are rounded; rows with the event are at risk.
      at_risk_[k] = std::max(at_risk_[k] - outside, deaths_[k]);
      n_at_risk_[k] -= n_outside;
    }
  }

  void fill_causes(const SurvivalRow* rows, size_t n) {
    cause_deaths_.assign(size() * n_causes_, 0.0);
    for (size_t i = 0; i < n; ++i)
      if (rows[i].event)
        cause_deaths_[(up_to_[i] - 1) * n_causes_ + rows[i].event - 1] += rows[i].weight;
    cause_hazard_.assign(n_causes_, 0.0);
    for (size_t e = 0; e < cause_deaths_.size(); ++e)
      cause_hazard_.push_back(cause_hazard_[e] + cause_deaths_[e] / at_risk_[e / n_causes_]);
  }

  size_t n_causes_ = 1;
  std::vector<double> at_risk_from_;  // weight of row i and those after it
  std::vector<uint32_t> up_to_, rank_;
  std::vector<uint32_t> entered_;  // empty: all rows are seen from the start
  std::vector<size_t> n_at_risk_;
  std::vector<double> at_risk_, deaths_, hazard_;
  std::vector<double> cause_deaths_, cause_hazard_;  // event times x causes, if there are several
};

}  // namespace bevel
