// Right-censored rows of a node: who is at risk and who has the event at each of its event times.
//
// Times are ranks: the number of the data's event times up to a row's own. A row of rank r is at
// risk at the event times 1 .. r, and an event of rank r happens at event time r.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bevel/support/check.h"

namespace bevel {

struct SurvivalRow {
  double weight;
  uint32_t rank;
  uint32_t event;  // 1: the event was seen; 0: censored
};

class RiskSets {
 public:
  // Rows by ascending rank.
  void fill(const SurvivalRow* rows, size_t n) {
    at_risk_from_.resize(n + 1);
    at_risk_from_[n] = 0.0;
    for (size_t i = n; i-- > 0;) at_risk_from_[i] = at_risk_from_[i + 1] + rows[i].weight;
    up_to_.resize(n);
    rank_.clear();
    at_risk_.clear();
    n_at_risk_.clear();
    deaths_.clear();
    hazard_.assign(1, 0.0);
    for (size_t i = 0; i < n;) {
      double deaths = 0.0;
      size_t end = i;
      for (; end < n && rows[end].rank == rows[i].rank; ++end)
        if (rows[end].event) deaths += rows[end].weight;
      BEVEL_CHECK(end == n || rows[end].rank > rows[i].rank);
      if (deaths > 0.0) {
        rank_.push_back(rows[i].rank);
        at_risk_.push_back(at_risk_from_[i]);
        n_at_risk_.push_back(n - i);
        deaths_.push_back(deaths);
        hazard_.push_back(hazard_.back() + deaths / at_risk_from_[i]);
      }
      for (; i < end; ++i) up_to_[i] = static_cast<uint32_t>(rank_.size());
    }
  }

  size_t size() const { return rank_.size(); }  // event times of the node
  double total_weight() const { return at_risk_from_.empty() ? 0.0 : at_risk_from_[0]; }
  uint32_t rank(size_t k) const { return rank_[k]; }
  double at_risk(size_t k) const { return at_risk_[k]; }
  size_t n_at_risk(size_t k) const { return n_at_risk_[k]; }  // rows
  double deaths(size_t k) const { return deaths_[k]; }
  double jump(size_t k) const { return deaths_[k] / at_risk_[k]; }  // of the hazard
  uint32_t up_to(size_t row) const { return up_to_[row]; }  // event times that a row is at risk at
  // Nelson-Aalen at the end of a row's time.
  double hazard(size_t row) const { return hazard_[up_to_[row]]; }
  // What is left of the row's event after its expectation: the log-rank score, or martingale
  // residual. Weighted, all of a node add up to zero.
  double score(const SurvivalRow* rows, size_t row) const {
    return static_cast<double>(rows[row].event) - hazard(row);
  }

 private:
  std::vector<double> at_risk_from_;  // weight of row i and those after it
  std::vector<uint32_t> up_to_, rank_;
  std::vector<size_t> n_at_risk_;
  std::vector<double> at_risk_, deaths_, hazard_;
};

}  // namespace bevel
