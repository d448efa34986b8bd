// The rotation of a tree of Rotation Forest (Rodriguez, Kuncheva and Alonso 2006).
#pragma once

#include "bevel/data/dataset_view.h"
#include "bevel/options.h"
#include "bevel/projection/candidates.h"
#include "bevel/projection/tree_axes.h"
#include "bevel/random/stream.h"

namespace bevel {

// The numeric features are divided at random into groups of family.n_nonzeros, the last may be
// smaller. For each group a non-empty set of the tree's classes is chosen, all sets equally likely;
// then a bootstrap of a share of their rows is drawn from the tree's bag. The group's axes are all
// its principal components there. Unless by_class, all rows are used.
void append_principal_axes(const Family& family, const DatasetView& data, const TreeRows& tree,
                           bool by_class, Stream& stream, Candidates& axes);

}  // namespace bevel
