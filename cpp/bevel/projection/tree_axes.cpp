#include "bevel/projection/tree_axes.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "bevel/projection/deck.h"
#include "bevel/projection/haar.h"

namespace bevel {
namespace {

// One Haar rotation of all numeric features, or of a random subset.
void append_haar_axes(const Family& family, const DatasetView& data, Stream& stream,
                      Candidates& axes) {
  const auto n_numeric = static_cast<int32_t>(data.numeric.size());
  const int32_t m = count_tree_axes(family, data);
  std::vector<int32_t> features = data.numeric;
  if (m < n_numeric) {
    Deck deck;
    deck.resize(n_numeric);
    features.clear();
    for (int32_t k = 0; k < m; ++k) features.push_back(data.numeric[deck.deal(stream)]);
    std::sort(features.begin(), features.end());
  }
  const std::vector<double> q = haar_columns(m, m, family.flip, stream);
  for (int32_t axis = 0; axis < m; ++axis) {
    for (int32_t k = 0; k < m; ++k)
      axes.add_entry(features[k], static_cast<float>(q[static_cast<size_t>(axis) * m + k]));
    axes.close();
  }
}

}  // namespace

int32_t count_tree_axes(const Family& family, const DatasetView& data) {
  const auto n_numeric = static_cast<int64_t>(data.numeric.size());
  return static_cast<int32_t>(std::min<int64_t>(family.n_nonzeros, n_numeric));
}

void draw_tree_axes(const Options& options, const DatasetView& data, const TreeRows&,
                    Stream& stream, Candidates& axes) {
  for (const Family& family : options.families)
    if (family.per_tree()) append_haar_axes(family, data, stream, axes);
}

}  // namespace bevel
