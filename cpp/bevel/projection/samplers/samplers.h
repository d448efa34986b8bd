// All samplers, one file each. make_samplers() chooses among them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bevel/projection/sampler.h"

namespace bevel {

// d distinct columns of a list: features for Breiman's forest, axes of a tree, or
// nominal columns.
std::unique_ptr<Sampler> make_list_sampler(std::vector<int32_t> columns, int32_t n_draws);
// d distinct directions of a pool that is common to all trees.
std::unique_ptr<Sampler> make_pool_sampler(Candidates pool, int32_t n_draws);
// SPORF 3.1: n_nonzeros entries of +-1 at uniform positions, without replacement, of the p x d
// matrix. Empty columns are not candidates.
std::unique_ptr<Sampler> make_signs_sampler(const Family& family, const DatasetView& data);
// Forest-RC (Breiman 2001): L distinct features, weights uniform on (-1, 1).
std::unique_ptr<Sampler> make_combination_sampler(const Family& family, const DatasetView& data);
// oRF-rnd (Menze et al. 2011, section 2): mtry features standardised in the node, weights N(0, 1).
std::unique_ptr<Sampler> make_gaussian_sampler(const Family& family, const DatasetView& data);
// Axes of a fresh Haar rotation at every node: its first d columns, dense in the chosen features.
std::unique_ptr<Sampler> make_node_rotation_sampler(const Family& family, const DatasetView& data);
// Blaser 3.2: d distinct ones of the features and the axes of n_rotations - 1 Haar rotations, which
// are drawn here from a stream of the forest and are common to all trees.
std::unique_ptr<Sampler> make_multirotation_sampler(const Family& family, const DatasetView& data,
                                                    Stream& forest);
// Appends the directions that it draws from: the features, then the axes of each rotation.
void append_multirotation(const Family& family, const DatasetView& data, Stream& forest,
                          Candidates& pool);
// Tomita's thesis, Table 3.1: principal components, on the node's rows, of random groups of
// features; those of eigenvalue zero are not candidates.
std::unique_ptr<Sampler> make_principal_sampler(const Family& family, const DatasetView& data);
// Tomita's thesis 3.3.8: random weights on the entries of a random patch of an array. All columns
// are numeric.
std::unique_ptr<Sampler> make_patches_sampler(const Family& family);
// Directions of a model of the node's rows in a random subspace (Menze et al. 2011; CCF).
// may_stop: a direction that leaves both sides pure makes the models after it superfluous.
std::unique_ptr<Sampler> make_model_sampler(const Family& family, const DatasetView& data,
                                            bool may_stop);
// User-defined directions: a function that is called at every node, or a pool to draw from.
std::unique_ptr<Sampler> make_custom_sampler(const Family& family, const DatasetView& data);

}  // namespace bevel
