// Partial least squares: the direction of the features that varies most with the responses, then
// the next one after removing what the first explains. As Menze et al. (2011) say of a
// large ridge penalty, it favours directions along which the data vary.
//
// Y is the responses' matrix: with K > 2 classes the first direction is the leading eigenvector of
// the scatter between classes (Barker & Rayens 2003). Only the products of features and responses
// are deflated (Dayal & MacGregor 1997), so that a component costs two passes over the rows and no
// Gram matrix is made.
#pragma once

#include "bevel/models/algebra/singular_vectors.h"
#include "bevel/models/responses.h"
#include "bevel/models/standard_rows.h"

namespace bevel {

class PartialLeastSquares {
 public:
  // At most n_components directions, fewer when nothing remains to explain.
  void directions(const NodeSample& sample, size_t n_components, ModelDirections& out);

 private:
  bool leading_weights();
  void deflate(size_t k);

  StandardRows rows_;
  Responses responses_;
  SingularVectors singular_;
  std::vector<double> cross_;               // size x stride of the responses
  std::vector<double> weights_, scores_;    // w, t = z r
  std::vector<double> rotation_, loading_;  // r and p, component after component, stride each
};

}  // namespace bevel
