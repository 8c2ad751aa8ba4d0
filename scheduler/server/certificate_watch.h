// Reloads the API's certificate after its files were replaced. Checks the files every few seconds.
#pragma once

#include "common/base/loops/loop.h"
#include "common/base/metrics/metrics.h"
#include "scheduler/api/server/api_server.h"

namespace carillon::scheduler {

inline constexpr Duration kLookAtCertificateEvery = 5s;

class CertificateWatch final : public Stepper {
 public:
  CertificateWatch(ApiServer& api, Metrics& metrics) : api_(api), metrics_(metrics) {}

  SteadyTime Step(SteadyTime now) override {
    // An error is only logged (by the API), because the files may be in the middle of
    // a replacement.
    static_cast<void>(api_.ReloadCertificate().ok());
    if (const auto until = api_.CertificateUntil()) {
      metrics_.gauge("carillon_tls_certificate_expiry_timestamp_seconds", "rest")
          .Set(std::chrono::duration<double>(until->time_since_epoch()).count());
    }
    return now + kLookAtCertificateEvery;
  }

 private:
  ApiServer& api_;
  Metrics& metrics_;
};

}  // namespace carillon::scheduler
