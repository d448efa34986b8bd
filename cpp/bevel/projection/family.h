// Families of directions. A forest has a list of them, from which its nodes draw their candidates.
// Each is a class in a source of samplers/, with its settings and its sampler; the table in
// families.cpp names them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "bevel/data/dataset_view.h"
#include "bevel/options.h"
#include "bevel/projection/candidates.h"
#include "bevel/projection/family_settings.h"
#include "bevel/projection/sampler.h"
#include "bevel/random/stream.h"

namespace bevel {

struct TreeRows;

// What constraints make of a drawn direction of several features. Coefficients change their sign,
// except those of directions that are given.
enum class UnderConstraints : uint8_t {
  leaves_out,  // features outside the group of the first one
  redraws,     // other features of the group in their place
  removes      // a given direction that breaks a constraint
};

struct FamilySize {
  int32_t n_draws = 1;     // d: candidates drawn at a node
  int64_t n_nonzeros = 0;  // features in each direction; signs: entries thrown in all
};

// What samplers of a forest are made from.
struct SamplerInput {
  const DatasetView& data;
  Stream& forest;  // a stream that all families of the forest share
  // Whether the first perfect cut of a node is taken, and later draws do not matter.
  bool first_perfect_cut_wins = false;
};

class Family {
 public:
  explicit Family(const FamilySize& size) : n_draws(size.n_draws), n_nonzeros(size.n_nonzeros) {}
  virtual ~Family() = default;

  // The sampler of the nodes; not for families that draw per tree. The family must outlive it.
  virtual std::unique_ptr<Sampler> make_sampler(const SamplerInput& input) const = 0;

  // Features that are read for one row of a node.
  virtual size_t features_per_node() const {
    return static_cast<size_t>(n_draws) * static_cast<size_t>(n_nonzeros);
  }
  // Whether directions are sets of nominal columns.
  virtual bool is_nominal() const { return false; }
  // Whether directions depend on the number of features only, not on their values.
  virtual bool needs_no_values() const { return false; }
  virtual bool needs_out_of_bag() const { return false; }
  virtual UnderConstraints under_constraints() const { return UnderConstraints::leaves_out; }

  // Whether directions are drawn once per tree, and nodes choose among them.
  virtual bool per_tree() const { return false; }
  // For families that draw per tree: appends the axes of a tree, as many as there are numeric
  // features. by_class: whether rows are drawn class by class.
  virtual void append_tree_axes(const DatasetView&, const TreeRows&, bool /*by_class*/, Stream&,
                                Candidates&) const {}
  // For families whose directions are common to all trees: appends them.
  virtual void append_forest_axes(const DatasetView&, Stream&, Candidates&) const {}

  // Throws if the settings do not suit the table, or the trees of these numbers.
  virtual void check(const DatasetView&, std::span<const uint64_t> /*trees*/) const {}

  const int32_t n_draws;
  const int64_t n_nonzeros;
};

// Makes the family of a name with settings; throws if there is none of this name.
std::shared_ptr<const Family> make_family(const std::string& name, const FamilySize& size,
                                          FamilySettings& settings);

// A maker of the table: the class and nothing else.
template <class Kind>
std::shared_ptr<const Family> make_family_of(const FamilySize& size, FamilySettings& settings) {
  return std::make_shared<const Kind>(size, settings);
}

// Whether any family of the options has a property, such as &Family::per_tree.
bool any_family(const Options& options, bool (Family::*has)() const);

}  // namespace bevel
