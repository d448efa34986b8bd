// Directions under constraints. A direction has one sign along all features that
// must only raise or only lower them, and combines features of one group only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "bevel/data/dataset_view.h"
#include "bevel/options.h"
#include "bevel/projection/candidates.h"
#include "bevel/random/stream.h"

namespace bevel {

// Groups of features that a path has left open, ascending.
struct OpenGroups {
  bool all = true;
  std::vector<int32_t> groups;
};

class DirectionConstraints {
 public:
  DirectionConstraints(const Constraints& constraints, const DatasetView& data);

  bool any() const { return is_monotone() || has_groups(); }
  bool is_monotone() const { return !monotone_.empty(); }
  bool has_groups() const { return !groups_of_feature_.empty(); }

  // Changes the drawn directions of a family, those from `first` on, to ones that satisfy the
  // constraints.
  // open: groups of the path, if known; a direction keeps to an open group if its first feature is
  // in one.
  void restrict(const Family& family, size_t first, Stream& stream, Candidates& candidates,
                const OpenGroups& open = {}) const;
  // Removes the directions from `first` on that a path does not allow.
  void remove_closed(const OpenGroups& open, size_t first, Candidates& candidates) const;
  // Orders the directions from `first` on by their push, 0, 1, -1, and returns the offsets of the
  // second and the third kind.
  std::pair<size_t, size_t> order_by_push(size_t first, Candidates& candidates) const;

  // 1: predictions must not fall as the projected value rises, -1: must not rise, 0: either.
  int push(const int32_t* index, const float* weight, int n) const;
  // Groups that hold all features of a direction, ascending; empty: none, or there are no groups.
  std::vector<int32_t> groups_of(const int32_t* index, int n) const;
  // Whether a path with these open groups may continue with a direction of groups `own`.
  bool allows(const OpenGroups& open, const std::vector<int32_t>& own) const;
  // Groups that stay open after a direction of groups `own`.
  OpenGroups after(const OpenGroups& open, const std::vector<int32_t>& own) const;

 private:
  struct Entry {
    int32_t feature;
    float weight;
  };
  void keep_to_a_group(bool replace, const OpenGroups& open, Stream& stream,
                       std::vector<Entry>& entries) const;
  void align(std::vector<Entry>& entries) const;
  bool holds(const std::vector<Entry>& entries) const;

  std::vector<int8_t> monotone_;                         // by feature; empty: none
  std::vector<std::vector<int32_t>> groups_of_feature_;  // ascending; empty: no groups
  std::vector<std::vector<int32_t>> numeric_;            // numeric features of each group
};

}  // namespace bevel
