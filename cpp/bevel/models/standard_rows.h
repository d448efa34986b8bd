// A node's rows with every feature at weighted mean 0 and variance 1, and the inverse:
// coefficients of standardised features become directions in raw units.
#pragma once

#include "bevel/models/node_sample.h"

namespace bevel {

struct StandardRows {
  size_t n = 0;
  size_t size = 0;        // features that vary
  size_t stride = 0;      // padded(size)
  std::vector<double> z;  // n x stride: sqrt(weight) (value - mean) / sd
  std::vector<double> root_weight;
  double total_weight = 0.0;
  size_t n_features = 0;         // number of features of the sample
  std::vector<size_t> features;  // those that vary
  std::vector<double> sd;        // standard deviations, with divisor total_weight

  // A feature whose sd is at most the rounding of float32 (2^-23) times its |mean| counts as
  // constant: projected values are float32, where it could only add noise. It gets coefficient 0.
  // same_rows: whether rows and weights are those of the last call, with other features.
  void standardise(const NodeSample& sample, bool same_rows = false);
  // Centred and weighted, but neither scaled nor dropped: sd is 1.
  void centre(const NodeSample& sample);

  Matrix matrix() { return {z.data(), n, stride}; }
  ConstMatrix matrix() const { return {z.data(), n, stride}; }
  // Appends the direction with these coefficients of the standardised features.
  bool add_direction(const double* coefficient, ModelDirections& out) const;

 private:
  void weigh(const NodeSample& sample);
  void find_means(const NodeSample& sample);
  void fill(const NodeSample& sample);

  std::vector<double> mean_, factor_;  // of all features, padded
};

}  // namespace bevel
