#include "common/base/metrics/metrics.h"

#include <algorithm>

#include "common/base/check.h"

namespace carillon {
namespace {

// Bounds in seconds; closest to each other below 100 ms, where lateness matters most.
const std::vector<double>& SecondsBounds() {
  static const std::vector<double> bounds = {0.001, 0.002, 0.005, 0.01,  0.02,  0.03, 0.05,
                                             0.075, 0.1,   0.2,   0.5,   1.0,   2.0,  5.0,
                                             10.0,  30.0,  60.0,  300.0, 3600.0};
  return bounds;
}

const MetricSpec* FindSpec(std::string_view name) {
  for (const MetricSpec& spec : MetricTable()) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

const MetricSpec* RequireSpec(std::string_view name, MetricKind kind) {
  const MetricSpec* spec = FindSpec(name);
  CARILLON_CHECK(spec != nullptr && spec->kind == kind, name);
  return spec;
}

// Separates joined label values. It must not occur in a label value.
constexpr char kBetweenLabels = '\x1f';

}  // namespace

std::string LabelValues(std::initializer_list<std::string_view> values) {
  std::string joined;
  for (const std::string_view value : values) {
    if (!joined.empty()) joined += kBetweenLabels;
    joined += value;
  }
  return joined;
}

std::vector<std::string> SplitLabelValues(std::string_view joined) {
  std::vector<std::string> values;
  while (true) {
    const size_t end = joined.find(kBetweenLabels);
    values.emplace_back(joined.substr(0, end));
    if (end == std::string_view::npos) return values;
    joined.remove_prefix(end + 1);
  }
}

Histogram::Histogram(std::vector<double> bounds)
    : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {}

void Histogram::Observe(double v) {
  const size_t bucket =
      static_cast<size_t>(std::lower_bound(bounds_.begin(), bounds_.end(), v) - bounds_.begin());
  counts_[bucket].fetch_add(1, std::memory_order_relaxed);
  double sum = sum_.load(std::memory_order_relaxed);
  while (!sum_.compare_exchange_weak(sum, sum + v, std::memory_order_relaxed)) {
  }
}

Histogram::Snapshot Histogram::Read() const {
  Snapshot snapshot{bounds_, {}, sum_.load(std::memory_order_relaxed)};
  uint64_t total = 0;
  for (const auto& count : counts_) {
    total += count.load(std::memory_order_relaxed);
    snapshot.cumulative.push_back(total);
  }
  return snapshot;
}

double Histogram::Quantile(double q) const {
  const Snapshot s = Read();
  const double rank = q * static_cast<double>(s.cumulative.back());
  if (s.cumulative.back() == 0) return 0;
  double below = 0;
  double lower = 0;
  for (size_t i = 0; i < s.bounds.size(); ++i) {
    const auto upto = static_cast<double>(s.cumulative[i]);
    if (upto >= rank && upto > below) {
      return lower + (s.bounds[i] - lower) * (rank - below) / (upto - below);
    }
    below = upto;
    lower = s.bounds[i];
  }
  return lower;
}

Counter& Metrics::counter(std::string_view name, std::string_view label_value) {
  RequireSpec(name, MetricKind::kCounter);
  MutexLock lock(mu_);
  auto& slot = counters_[{std::string(name), std::string(label_value)}];
  if (!slot) slot = std::make_unique<Counter>();
  return *slot;
}

Gauge& Metrics::gauge(std::string_view name, std::string_view label_value) {
  RequireSpec(name, MetricKind::kGauge);
  MutexLock lock(mu_);
  auto& slot = gauges_[{std::string(name), std::string(label_value)}];
  if (!slot) slot = std::make_unique<Gauge>();
  return *slot;
}

Histogram& Metrics::histogram(std::string_view name, std::string_view label_value) {
  RequireSpec(name, MetricKind::kHistogram);
  MutexLock lock(mu_);
  auto& slot = histograms_[{std::string(name), std::string(label_value)}];
  if (!slot) slot = std::make_unique<Histogram>(SecondsBounds());
  return *slot;
}

void Metrics::OnCollect(std::function<void()> refresh) {
  MutexLock lock(mu_);
  refreshers_.push_back(std::move(refresh));
}

std::vector<Metrics::Sample> Metrics::Collect() const {
  std::vector<std::function<void()>> refreshers;
  {
    MutexLock lock(mu_);
    refreshers = refreshers_;
  }
  for (const auto& refresh : refreshers) refresh();
  std::vector<Sample> samples;
  MutexLock lock(mu_);
  for (const MetricSpec& spec : MetricTable()) {
    for (const auto& [key, counter] : counters_) {
      if (key.first == spec.name) {
        samples.push_back({&spec, key.second, static_cast<double>(counter->value()), {}});
      }
    }
    for (const auto& [key, gauge] : gauges_) {
      if (key.first == spec.name) samples.push_back({&spec, key.second, gauge->value(), {}});
    }
    for (const auto& [key, histogram] : histograms_) {
      if (key.first == spec.name) samples.push_back({&spec, key.second, 0, histogram->Read()});
    }
  }
  return samples;
}

}  // namespace carillon
