// Counters, gauges and histograms, served by the ops port. All metrics are listed in
// metrics_table.cc, from which docs/metrics.md is generated.
//
// Threads  Thread-safe; metrics are updated with atomic operations, without a lock.
// Always   The set of label values is bounded: never a job id or a run id.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/mutex.h"

namespace carillon {

class Counter {
 public:
  void Add(uint64_t n = 1) { value_.fetch_add(n, std::memory_order_relaxed); }
  uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

class Gauge {
 public:
  void Set(double v) { value_.store(v, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

// Cumulative buckets by inclusive upper bound, as in Prometheus.
class Histogram {
 public:
  explicit Histogram(std::vector<double> bounds);
  void Observe(double v);
  // Estimates quantile `q` in [0, 1] by linear interpolation in its bucket; 0 if empty.
  double Quantile(double q) const;

  struct Snapshot {
    std::vector<double> bounds;
    std::vector<uint64_t> cumulative;  // one entry more than bounds: the last is +Inf
    double sum = 0;
  };
  Snapshot Read() const;

 private:
  const std::vector<double> bounds_;
  std::vector<std::atomic<uint64_t>> counts_;
  std::atomic<double> sum_{0};
};

enum class MetricKind { kCounter, kGauge, kHistogram };

// A row of the table of metrics.
struct MetricSpec {
  std::string_view name;
  MetricKind kind;
  std::string_view label;  // label names, separated by commas; empty for none
  std::string_view help;
};

// Joins the values of several labels, in the order of MetricSpec::label.
std::string LabelValues(std::initializer_list<std::string_view> values);
// Splits the result of LabelValues: one value per label.
std::vector<std::string> SplitLabelValues(std::string_view joined);

// Every metric of Carillon, in the order of docs/metrics.md.
const std::vector<MetricSpec>& MetricTable();

class Metrics {
 public:
  // `name` must be in MetricTable() with the kind of the function (checked). The returned
  // references stay valid as long as this object exists.
  Counter& counter(std::string_view name, std::string_view label_value = {});
  Gauge& gauge(std::string_view name, std::string_view label_value = {});
  Histogram& histogram(std::string_view name, std::string_view label_value = {});

  struct Sample {
    const MetricSpec* spec;
    std::string label_value;        // joined by LabelValues
    double value = 0;               // of a counter or gauge
    Histogram::Snapshot histogram;  // of a histogram
  };
  // Every metric used so far, grouped by spec, in the order of the table.
  std::vector<Sample> Collect() const;

  // `refresh` runs at the start of each Collect, to set gauges that are computed on demand.
  void OnCollect(std::function<void()> refresh);

 private:
  using Key = std::pair<std::string, std::string>;
  mutable Mutex mu_;
  std::map<Key, std::unique_ptr<Counter>> counters_ GUARDED_BY(mu_);
  std::map<Key, std::unique_ptr<Gauge>> gauges_ GUARDED_BY(mu_);
  std::map<Key, std::unique_ptr<Histogram>> histograms_ GUARDED_BY(mu_);
  std::vector<std::function<void()>> refreshers_ GUARDED_BY(mu_);
};

}  // namespace carillon
