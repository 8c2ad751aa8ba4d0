// Renders metrics in Prometheus' text format, version 0.0.4.
//
// Threads  Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/metrics/metrics.h"

namespace carillon {

inline constexpr std::string_view kPrometheusContentType =
    "text/plain; version=0.0.4; charset=utf-8";

std::string ToPrometheusText(const std::vector<Metrics::Sample>& samples);

}  // namespace carillon
