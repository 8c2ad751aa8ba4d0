#include "common/base/metrics/metrics.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/support/source_file.h"

namespace carillon {
namespace {

std::string MetricsDocument() {
  std::ostringstream out;
  out << "# Metrics\n\nServed on the ops port at `/metrics`. Labels are in braces; none is a job "
         "id "
         "or a run id. Names that\nend in `_total` are counters; the others are gauges unless "
         "marked "
         "as histograms. Generated from\n`common/base/metrics/metrics_table.cc` by `./dev regen`; "
         "a "
         "test compares.\n\n| metric | meaning |\n|---|---|\n";
  for (const MetricSpec& spec : MetricTable()) {
    out << "| `" << spec.name << (spec.label.empty() ? "" : "{" + std::string(spec.label) + "}")
        << "` | " << (spec.kind == MetricKind::kHistogram ? "Histogram: " : "") << spec.help
        << " |\n";
  }
  return out.str();
}

TEST(MetricsTest, DocumentAgreesWithTheTable) {
  const std::string path = test::SourceFile("docs/metrics.md");
  if (std::getenv("CARILLON_REGEN") != nullptr) std::ofstream(path) << MetricsDocument();
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  EXPECT_EQ(text.str(), MetricsDocument());
}

TEST(MetricsTest, NamesAreUniqueAndFollowTheConvention) {
  std::set<std::string_view> names;
  for (const MetricSpec& spec : MetricTable()) {
    EXPECT_TRUE(names.insert(spec.name).second) << spec.name;
    EXPECT_TRUE(spec.name.starts_with("carillon_")) << spec.name;
    EXPECT_EQ(spec.kind == MetricKind::kCounter, spec.name.ends_with("_total")) << spec.name;
    EXPECT_EQ(spec.label.find("job_id"), std::string_view::npos) << spec.name;
    EXPECT_EQ(spec.label.find("run_id"), std::string_view::npos) << spec.name;
  }
}

TEST(MetricsTest, CollectsWhatWasTouchedInTheOrderOfTheTable) {
  Metrics metrics;
  metrics.counter("carillon_runs_total", "COMPLETED").Add(3);
  metrics.counter("carillon_runs_total", "FAILED").Add();
  metrics.OnCollect([&] { metrics.gauge("carillon_is_leader").Set(1); });
  const auto samples = metrics.Collect();
  ASSERT_EQ(samples.size(), 3u);
  EXPECT_EQ(samples[0].spec->name, "carillon_is_leader");
  EXPECT_EQ(samples[1].label_value, "COMPLETED");
  EXPECT_EQ(samples[1].value, 3);
  EXPECT_EQ(samples[2].value, 1);
}

TEST(MetricsTest, HistogramIsCumulativeAndEstimatesQuantiles) {
  Histogram histogram({1, 2, 4});
  EXPECT_EQ(histogram.Quantile(0.5), 0);
  for (const double v : {0.5, 1.0, 1.5, 3.0, 100.0}) histogram.Observe(v);
  const auto snapshot = histogram.Read();
  EXPECT_EQ(snapshot.cumulative, (std::vector<uint64_t>{2, 3, 4, 5}));
  EXPECT_DOUBLE_EQ(snapshot.sum, 106);
  EXPECT_DOUBLE_EQ(histogram.Quantile(0.2), 0.5);
  EXPECT_DOUBLE_EQ(histogram.Quantile(0.6), 2);
  EXPECT_DOUBLE_EQ(histogram.Quantile(1), 4);
}

}  // namespace
}  // namespace carillon
