#include "bevel/projection/direction_constraints.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "bevel/projection/family.h"
#include "bevel/support/check.h"

namespace bevel {
namespace {

// Attempts to draw a feature that is not in the direction yet, before its slot stays empty.
constexpr int kTries = 16;

std::vector<int32_t> common(const std::vector<int32_t>& a, const std::vector<int32_t>& b) {
  std::vector<int32_t> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

void copy(const Candidates& from, size_t c, Candidates& to) {
  for (int k = 0; k < from.n_nonzeros(c); ++k) to.add_entry(from.indices(c)[k], from.weights(c)[k]);
  to.close();
}

}  // namespace

DirectionConstraints::DirectionConstraints(const Constraints& constraints, const DatasetView& data)
    : monotone_(constraints.monotone) {
  // Level terms are as free as their nominal features.
  const auto p = static_cast<size_t>(data.first_level_term());
  require(monotone_.empty() || monotone_.size() == p, "[constraints] one sign per feature");
  for (size_t f = 0; f < monotone_.size(); ++f)
    require(monotone_[f] == 0 || data.levels[f] == 0, "[constraints] nominal feature");
  if (std::all_of(monotone_.begin(), monotone_.end(), [](int8_t sign) { return sign == 0; }))
    monotone_.clear();
  if (!monotone_.empty()) monotone_.resize(static_cast<size_t>(data.n_features), 0);
  if (constraints.groups.empty()) return;
  groups_of_feature_.resize(static_cast<size_t>(data.n_features));
  numeric_.resize(constraints.groups.size());
  for (size_t g = 0; g < constraints.groups.size(); ++g)
    for (const int32_t f : constraints.groups[g]) {
      require(f >= 0 && static_cast<size_t>(f) < p, "[constraints] feature of a group");
      auto& own = groups_of_feature_[static_cast<size_t>(f)];
      if (!own.empty() && own.back() == static_cast<int32_t>(g)) continue;  // named twice
      own.push_back(static_cast<int32_t>(g));
      if (std::binary_search(data.numeric.begin(), data.numeric.end(), f)) numeric_[g].push_back(f);
    }
  for (size_t t = 0; t < data.level_terms.size(); ++t) {
    const auto& own = groups_of_feature_[static_cast<size_t>(data.level_terms[t].feature)];
    groups_of_feature_[p + t] = own;
    for (const int32_t g : own)
      numeric_[static_cast<size_t>(g)].push_back(static_cast<int32_t>(p + t));
  }
  for (const auto& own : groups_of_feature_)
    require(!own.empty(), "[constraints] feature without a group");
}

void DirectionConstraints::restrict(const Family& family, size_t first, Stream& stream,
                                    Candidates& candidates, const OpenGroups& open) const {
  if (!any()) return;
  const bool given = family.under_constraints() == UnderConstraints::removes;
  const bool replace = family.under_constraints() == UnderConstraints::redraws;
  Candidates drawn = std::move(candidates);
  candidates.clear();
  std::vector<Entry> entries;
  for (size_t c = 0; c < drawn.size(); ++c) {
    entries.clear();
    for (int k = 0; k < drawn.n_nonzeros(c); ++k)
      entries.push_back({drawn.indices(c)[k], drawn.weights(c)[k]});
    if (c >= first && entries.size() > 1) {
      if (given) {
        if (!holds(entries)) continue;
      } else {
        keep_to_a_group(replace, open, stream, entries);
        align(entries);
      }
    }
    for (const Entry& entry : entries) candidates.add_entry(entry.feature, entry.weight);
    candidates.close();
  }
}

// Keeps to the group of the first feature, or to one of its groups.
void DirectionConstraints::keep_to_a_group(bool replace, const OpenGroups& open, Stream& stream,
                                           std::vector<Entry>& entries) const {
  if (!has_groups()) return;
  std::vector<int32_t> choices = groups_of_feature_[static_cast<size_t>(entries[0].feature)];
  if (!open.all)
    if (auto still_open = common(open.groups, choices); !still_open.empty())
      choices = std::move(still_open);
  const int32_t group = choices[stream.below(choices.size())];
  const auto& others = numeric_[static_cast<size_t>(group)];
  auto is_inside = [&](int32_t feature) {
    const auto& own = groups_of_feature_[static_cast<size_t>(feature)];
    return std::binary_search(own.begin(), own.end(), group);
  };
  auto is_taken = [&](int32_t feature) {
    return std::any_of(entries.begin(), entries.end(),
                       [&](const Entry& entry) { return entry.feature == feature; });
  };
  for (Entry& entry : entries) {
    if (is_inside(entry.feature)) continue;
    entry.feature = -1;
    for (int i = 0; replace && i < kTries && entry.feature < 0; ++i) {
      const int32_t other = others[stream.below(others.size())];
      if (!is_taken(other)) entry.feature = other;
    }
  }
  std::erase_if(entries, [](const Entry& entry) { return entry.feature < 0; });
}

void DirectionConstraints::remove_closed(const OpenGroups& open, size_t first,
                                         Candidates& candidates) const {
  if (!has_groups() || open.all) return;
  Candidates drawn = std::move(candidates);
  candidates.clear();
  for (size_t c = 0; c < drawn.size(); ++c)
    if (c < first || allows(open, groups_of(drawn.indices(c), drawn.n_nonzeros(c))))
      copy(drawn, c, candidates);
}

std::pair<size_t, size_t> DirectionConstraints::order_by_push(size_t first,
                                                              Candidates& candidates) const {
  if (!is_monotone()) return {candidates.size(), candidates.size()};
  Candidates drawn = std::move(candidates);
  candidates.clear();
  for (size_t c = 0; c < first; ++c) copy(drawn, c, candidates);
  size_t ends[3];
  const int kinds[3] = {0, 1, -1};
  for (int kind = 0; kind < 3; ++kind) {
    for (size_t c = first; c < drawn.size(); ++c)
      if (push(drawn.indices(c), drawn.weights(c), drawn.n_nonzeros(c)) == kinds[kind])
        copy(drawn, c, candidates);
    ends[kind] = candidates.size();
  }
  return {ends[0], ends[1]};
}

// Aligns the coefficients of constrained features with the sign of the first of them.
void DirectionConstraints::align(std::vector<Entry>& entries) const {
  if (!is_monotone()) return;
  int way = 0;
  for (Entry& entry : entries) {
    const int own = push(&entry.feature, &entry.weight, 1);
    if (way == 0) way = own;
    if (own == -way) entry.weight = -entry.weight;
  }
}

bool DirectionConstraints::holds(const std::vector<Entry>& entries) const {
  bool up = false, down = false;
  std::vector<int32_t> features;
  for (const Entry& entry : entries) {
    const int own = push(&entry.feature, &entry.weight, 1);
    up |= own > 0;
    down |= own < 0;
    features.push_back(entry.feature);
  }
  return !(up && down) &&
         (!has_groups() || !groups_of(features.data(), static_cast<int>(features.size())).empty());
}

int DirectionConstraints::push(const int32_t* index, const float* weight, int n) const {
  if (!is_monotone()) return 0;
  for (int k = 0; k < n; ++k) {
    const int sign = monotone_[static_cast<size_t>(index[k])];
    if (sign != 0 && weight[k] != 0.0f) return weight[k] > 0.0f ? sign : -sign;
  }
  return 0;
}

std::vector<int32_t> DirectionConstraints::groups_of(const int32_t* index, int n) const {
  if (!has_groups() || n == 0) return {};
  std::vector<int32_t> own = groups_of_feature_[static_cast<size_t>(index[0])];
  for (int k = 1; k < n; ++k) own = common(own, groups_of_feature_[static_cast<size_t>(index[k])]);
  return own;
}

bool DirectionConstraints::allows(const OpenGroups& open, const std::vector<int32_t>& own) const {
  if (!has_groups()) return true;
  return open.all ? !own.empty() : !common(open.groups, own).empty();
}

OpenGroups DirectionConstraints::after(const OpenGroups& open,
                                       const std::vector<int32_t>& own) const {
  if (!has_groups()) return open;
  return {false, open.all ? own : common(open.groups, own)};
}

}  // namespace bevel
