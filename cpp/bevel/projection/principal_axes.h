// The rotation of a tree of Rotation Forest (Rodriguez, Kuncheva and Alonso 2006).
#pragma once

#include <cstdint>

#include "bevel/data/dataset_view.h"
#include "bevel/projection/candidates.h"
#include "bevel/projection/tree_axes.h"
#include "bevel/random/stream.h"

namespace bevel {

struct PrincipalGroups {
  int64_t size;   // features in a group; the last may be smaller
  double share;   // of the rows that a group may learn from
  bool by_class;  // otherwise all classes take part in each group
};

// The numeric features are divided at random into groups. For each group a non-empty set of the
// tree's classes is chosen, all sets equally likely; then a bootstrap of a share of their rows is
// drawn from the tree's bag. The group's axes are all its principal components there.
void append_principal_axes(const PrincipalGroups& groups, const DatasetView& data,
                           const TreeRows& tree, Stream& stream, Candidates& axes);

}  // namespace bevel
