#include "common/adapters/prometheus/exposition.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <limits>
#include <sstream>

namespace carillon {
namespace {

prometheus::MetricType TypeOf(MetricKind kind) {
  switch (kind) {
    case MetricKind::kCounter: return prometheus::MetricType::Counter;
    case MetricKind::kGauge: return prometheus::MetricType::Gauge;
    case MetricKind::kHistogram: return prometheus::MetricType::Histogram;
  }
  return prometheus::MetricType::Untyped;
}

prometheus::ClientMetric::Histogram Convert(const Histogram::Snapshot& snapshot) {
  prometheus::ClientMetric::Histogram histogram;
  histogram.sample_count = snapshot.cumulative.empty() ? 0 : snapshot.cumulative.back();
  histogram.sample_sum = snapshot.sum;
  for (size_t i = 0; i < snapshot.cumulative.size(); ++i) {
    prometheus::ClientMetric::Bucket bucket;
    bucket.cumulative_count = snapshot.cumulative[i];
    bucket.upper_bound =
        i < snapshot.bounds.size() ? snapshot.bounds[i] : std::numeric_limits<double>::infinity();
    histogram.bucket.push_back(bucket);
  }
  return histogram;
}

std::vector<prometheus::ClientMetric::Label> LabelsOf(const Metrics::Sample& sample) {
  std::vector<prometheus::ClientMetric::Label> labels;
  std::string_view names = sample.spec->label;
  if (names.empty()) return labels;
  for (std::string& value : SplitLabelValues(sample.label_value)) {
    const size_t comma = names.find(',');
    labels.push_back({std::string(names.substr(0, comma)), std::move(value)});
    if (comma == std::string_view::npos) break;
    names.remove_prefix(comma + 1);
  }
  return labels;
}

prometheus::ClientMetric Convert(const Metrics::Sample& sample) {
  prometheus::ClientMetric metric;
  metric.label = LabelsOf(sample);
  switch (sample.spec->kind) {
    case MetricKind::kCounter: metric.counter.value = sample.value; break;
    case MetricKind::kGauge: metric.gauge.value = sample.value; break;
    case MetricKind::kHistogram: metric.histogram = Convert(sample.histogram); break;
  }
  return metric;
}

}  // namespace

std::string ToPrometheusText(const std::vector<Metrics::Sample>& samples) {
  std::vector<prometheus::MetricFamily> families;
  const MetricSpec* current = nullptr;
  for (const Metrics::Sample& sample : samples) {  // already grouped by spec
    if (sample.spec != current) {
      current = sample.spec;
      prometheus::MetricFamily family;
      family.name = std::string(current->name);
      family.help = std::string(current->help);
      family.type = TypeOf(current->kind);
      families.push_back(std::move(family));
    }
    families.back().metric.push_back(Convert(sample));
  }
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, families);
  return text.str();
}

}  // namespace carillon
