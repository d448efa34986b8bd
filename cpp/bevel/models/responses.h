// Responses of node models: the labels as columns that are centred, weighted
// by sqrt(weight) and of a known total square.
//
// Two classes and regression have one column of length 1. K > 2 classes have K columns, the centred
// indicators 1[label = k] - W_k / W divided by sqrt(W_k), W_k being the weight of class k: as a
// matrix they are orthonormal except for the direction in which all classes score equally, so their
// total square is K - 1 and no class counts more by its number or its position in the list.
#pragma once

#include "bevel/models/standard_rows.h"

namespace bevel {

class Responses {
 public:
  void set(const NodeSample& sample, const StandardRows& rows);

  size_t width() const { return width_; }    // columns
  size_t stride() const { return stride_; }  // stride of products with them: 1 column is not padded
  double total_square() const { return total_square_; }  // 0: nothing to predict
  // Weights of K > 2 classes, whose columns multiplied by the roots of these add up to zero.
  const std::vector<double>& class_weight() const { return class_weight_; }
  // out[i] = sum over columns k of y[i][k] score[k]
  void column(const NodeSample& sample, const StandardRows& rows, const double* score,
              double* out) const;
  // rows' y: rows.size x stride
  void cross_products(const NodeSample& sample, const StandardRows& rows, std::vector<double>& out);

 private:
  void set_classes(const NodeSample& sample, double total_weight);
  void set_target(const NodeSample& sample, const StandardRows& rows);

  size_t width_ = 0, stride_ = 0;
  double total_square_ = 0.0, centre_ = 0.0, scale_ = 0.0;
  std::vector<double> class_weight_, class_scale_;  // W_k, 1 / sqrt(W_k)
  std::vector<double> sums_, y_;
  bool has_y_ = false;
};

}  // namespace bevel
