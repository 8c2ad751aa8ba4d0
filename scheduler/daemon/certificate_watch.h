// Looks every few seconds whether the files of the API's certificate were replaced.
#pragma once

#include "common/base/loop.h"
#include "scheduler/api/api_server.h"

namespace carillon::scheduler {

inline constexpr Duration kLookAtCertificateEvery = 5s;

class CertificateWatch final : public Stepper {
 public:
  explicit CertificateWatch(ApiServer& api) : api_(api) {}

  SteadyTime Step(SteadyTime now) override {
    // A bad pair was logged; it may be half replaced.
    static_cast<void>(api_.ReloadCertificate().ok());
    return now + kLookAtCertificateEvery;
  }

 private:
  ApiServer& api_;
};

}  // namespace carillon::scheduler
