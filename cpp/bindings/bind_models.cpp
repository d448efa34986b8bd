// The node models one by one, for tests only: the trainer calls them in C++.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>

#include "arrays.h"
#include "bevel/models/cca.h"
#include "bevel/models/linear_model.h"
#include "bevel/models/logistic.h"
#include "bevel/models/pls.h"
#include "bevel/support/arithmetic/normal_tail.h"
#include "bevel/support/check.h"

using namespace bevel;

namespace {

using DoubleMatrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Array = nb::ndarray<nb::numpy, double>;

NodeSample to_sample(const DoubleMatrix& X, const Vector<double>& weight) {
  NodeSample sample;
  sample.resize(X.shape(0), X.shape(1));
  require(weight.shape(0) == sample.n, "[models] length of weight");
  for (size_t i = 0; i < sample.n; ++i)
    std::copy_n(X.data() + i * sample.m, sample.m, sample.row(i));
  std::copy_n(weight.data(), sample.n, sample.weight.begin());
  return sample;
}

// Labels in double precision: one type of array for both criteria.
NodeSample to_sample(const DoubleMatrix& X, const Vector<double>& weight, const Vector<double>& y,
                     int32_t n_classes) {
  NodeSample sample = to_sample(X, weight);
  require(y.shape(0) == sample.n, "[models] length of y");
  sample.n_classes = n_classes;
  if (n_classes == 0) sample.target.assign(y.data(), y.data() + sample.n);
  for (size_t i = 0; n_classes > 0 && i < sample.n; ++i) {
    require(y(i) >= 0.0 && y(i) < n_classes, "[models] label out of range");
    sample.label.push_back(static_cast<int32_t>(y(i)));
  }
  return sample;
}

// Direction after direction: count x m.
Array to_array(const ModelDirections& directions) {
  return to_numpy(std::vector<double>(directions.coefficient), {directions.count(), directions.m});
}

nb::list ridge_path(DoubleMatrix X, Vector<double> weight, Vector<double> y, int32_t n_classes,
                    Vector<double> alphas) {
  const NodeSample sample = to_sample(X, weight, y, n_classes);
  LinearModel model;
  model.fit(sample);
  std::vector<ModelDirections> path;
  model.ridge_path(as_span(alphas), path);
  nb::list out;
  for (const ModelDirections& directions : path) out.append(to_array(directions));
  return out;
}

nb::tuple gcv(DoubleMatrix X, Vector<double> weight, Vector<double> y, int32_t n_classes,
              Vector<double> alphas) {
  const NodeSample sample = to_sample(X, weight, y, n_classes);
  LinearModel model;
  model.fit(sample);
  std::vector<double> score;
  const size_t best = model.gcv(as_span(alphas), score);
  return nb::make_tuple(to_numpy(std::move(score)), best);
}

Array lda(DoubleMatrix X, Vector<double> weight, Vector<double> y, int32_t n_classes) {
  const NodeSample sample = to_sample(X, weight, y, n_classes);
  LinearModel model;
  ModelDirections out;
  model.fit(sample);
  model.lda(out);
  return to_array(out);
}

nb::tuple p_values(DoubleMatrix X, Vector<double> weight, Vector<double> y, int32_t n_classes,
                   double alpha) {
  const NodeSample sample = to_sample(X, weight, y, n_classes);
  LinearModel model;
  ModelDirections out;
  std::vector<double> p;
  model.fit(sample);
  model.p_values(alpha, out, p);
  return nb::make_tuple(to_array(out), to_numpy(std::move(p), {out.count(), out.m}));
}

Array logistic(DoubleMatrix X, Vector<double> weight, Vector<double> y, int32_t n_classes,
               double alpha, size_t n_steps) {
  ModelDirections out;
  LogisticModel().directions(to_sample(X, weight, y, n_classes), alpha, n_steps, out);
  return to_array(out);
}

nb::tuple logistic_p_values(DoubleMatrix X, Vector<double> weight, Vector<double> y,
                            int32_t n_classes, double alpha, size_t n_steps) {
  ModelDirections out;
  std::vector<double> p;
  LogisticModel().directions(to_sample(X, weight, y, n_classes), alpha, n_steps, out, &p);
  return nb::make_tuple(to_array(out), to_numpy(std::move(p), {out.count(), out.m}));
}

Array pls(DoubleMatrix X, Vector<double> weight, Vector<double> y, int32_t n_classes,
          size_t n_components) {
  ModelDirections out;
  PartialLeastSquares().directions(to_sample(X, weight, y, n_classes), n_components, out);
  return to_array(out);
}

Array cca(DoubleMatrix X, Vector<double> weight, Vector<double> y, int32_t n_classes) {
  ModelDirections out;
  CanonicalCorrelation().directions(to_sample(X, weight, y, n_classes), out);
  return to_array(out);
}

}  // namespace

void bind_models(nb::module_& m) {
  const auto X = [] { return nb::arg("X").noconvert(); };
  const auto w = [] { return nb::arg("weight").noconvert(); };
  const auto y = [] { return nb::arg("y").noconvert(); };
  const nb::arg k("n_classes");
  m.def("models_ridge_path", &ridge_path, X(), w(), y(), k, nb::arg("alphas").noconvert());
  m.def("models_gcv", &gcv, X(), w(), y(), k, nb::arg("alphas").noconvert());
  m.def("models_lda", &lda, X(), w(), y(), k);
  m.def("models_p_values", &p_values, X(), w(), y(), k, nb::arg("alpha"));
  m.def("models_logistic", &logistic, X(), w(), y(), k, nb::arg("alpha"), nb::arg("n_steps"));
  m.def("models_logistic_p_values", &logistic_p_values, X(), w(), y(), k, nb::arg("alpha"),
        nb::arg("n_steps"));
  m.def("models_normal_p_value", &two_sided_normal_p_value, nb::arg("z"));
  m.def("models_pls", &pls, X(), w(), y(), k, nb::arg("n_components"));
  m.def("models_cca", &cca, X(), w(), y(), k);
}
