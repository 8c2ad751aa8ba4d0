// Client certificates that cannot be shown.
#include "tests/unit/executor/http/runner_case.h"

namespace carillon::executor {
namespace {

class HttpCertificateTest : public RunnerCase {
 protected:
  AttemptResult RunWith(const std::string& pem) {
    StartHttp start = To("https://" + server_.Address() + "/");
    start.client_certificate = pem;
    start.tls_verify = false;
    return Run(std::move(start));
  }
};

constexpr const char* kCertificate = R"(-----BEGIN CERTIFICATE-----
MIIBeTCCAR+gAwIBAgIUbrUVR8mAdPkSg3KqQMxIWoWwXHAwCgYIKoZIzj0EAwIw
ETEPMA0GA1UEAwwGY2xpZW50MCAXDTI2MTEyOTIxMzIxM1oYDzIxMjYxMTA1MjEz
MjEzWjARMQ8wDQYDVQQDDAZjbGllbnQwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
AATXxutJUfmuc6fZN624WMP+N/9NlJzf+6y/ypb1AaWg+EKk5ZoOQsCTGW07j58M
Bt2/hzWge3bSLIKV+YvNq5Sno1MwUTAdBgNVHQ4EFgQUMq16aNG4OWWb6ESG9ahl
ERRhQlswHwYDVR0jBBgwFoAUMq16aNG4OWWb6ESG9ahlERRhQlswDwYDVR0TAQH/
BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiBNMi93KWb4zQh9v1LYUBNX2Cj5TC/q
f/9GH0IlpYXpQAIhANJVZQQWvFl4UfsxkypRhTeL6I9C3w+qf34KMLX8NsJD
-----END CERTIFICATE-----
)";
constexpr const char* kEncrypted = R"(-----BEGIN ENCRYPTED PRIVATE KEY-----
MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAi5VpVKBrRLNQICCAAw
DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEKExelRevHaEVl0Kx0TqoXEEgZCV
eKSm1gOTquXag+/LYBtJtCeo903jrF0t8KzGtAjQZ8Es2f9wHr3bxuidMnUwnvvD
lVa4Pf8+V6AgslWQ0Gb7LXfYVjts1Er+UWKqt1bLTbv1CVx8bUIpxEdZGQlgk/qF
ymX43EibICZq47bUeU8TsqzgUXa1W2hAkMEPb2P4fNZeIyeWMba/i9z9UDWi1UY=
-----END ENCRYPTED PRIVATE KEY-----
)";
// The same in the older form.
constexpr const char* kEncryptedOld = R"(-----BEGIN EC PRIVATE KEY-----
Proc-Type: 4,ENCRYPTED
DEK-Info: AES-128-CBC,343A75B8B0DC21372C956987AA794C6B

qZF3RLQDwO0lbzwW2Hl/mDjMGaUfhEzCc28KLkT7bpQMpS3DuBaiHp+MWF325nJy
dcy1uF5dACxysM53UOMK2tzbWqJJQPnP7g/ZXquZwyVGTVjlPJSE9nQFVEG5+6IO
PaaTnWrjgMQQEOFdyZrNT70RzJaLrkmtoCH24Fwf2UE=
-----END EC PRIVATE KEY-----
)";

// libcurl would read the passphrase from a null pointer.
TEST_F(HttpCertificateTest, AKeyWithAPassphraseIsRefusedWithTheReason) {
  for (const std::string key : {kEncrypted, kEncryptedOld}) {
    const AttemptResult result = RunWith(kCertificate + key);
    EXPECT_EQ(result.state, RunState::kFailed);
    EXPECT_EQ(result.reason, reason::kHttpError);
    EXPECT_NE(result.error.find("needs a passphrase"), std::string::npos) << result.error;
    EXPECT_TRUE(result.no_retry);
  }
  // What a look at the text does not find.
  std::string hidden = kEncryptedOld;
  hidden.replace(hidden.find("Type: 4"), 7, "Type:  4");
  EXPECT_EQ(RunWith(kCertificate + hidden).reason, reason::kHttpError);
}

TEST_F(HttpCertificateTest, WhatIsNoCertificateFailsTheRequestOnly) {
  for (const std::string& pem : std::vector<std::string>{"no PEM", kCertificate, kEncrypted}) {
    EXPECT_EQ(RunWith(pem).reason, reason::kHttpError);
  }
  EXPECT_EQ(Run(To("/")).state, RunState::kCompleted);
}

}  // namespace
}  // namespace carillon::executor
