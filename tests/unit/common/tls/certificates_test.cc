#include "common/tls/certificates.h"

#include <gtest/gtest.h>

namespace carillon::tls {
namespace {

constexpr WallTime kNow = FromUnixMicros(1'800'000'000'000'000);
constexpr Duration kDay = 24h;

Authority MakeAuthority(const std::string& name = "Carillon") {
  return Authority::Create(name, {.from = kNow - kDay, .until = kNow + 100 * kDay});
}

IssueOptions For(const std::string& name) {
  return {
      .common_name = name, .addresses = {"127.0.0.1"}, .from = kNow - 1min, .until = kNow + kDay};
}

std::string RequestFor(const std::string& key, const std::string& name) {
  auto request = NewRequest(key, name);
  EXPECT_TRUE(request.ok()) << request.error().message;
  return std::move(request).value();
}

TEST(CertificatesTest, IssuesWhatARequestAsksFor) {
  const Authority authority = MakeAuthority();
  const std::string key = NewKey();
  const auto issued = authority.Issue(RequestFor(key, "executor-1"), For("executor-1"));
  ASSERT_TRUE(issued.ok()) << issued.error().message;
  EXPECT_TRUE(CheckPair(*issued, key).ok());
  EXPECT_TRUE(CheckIssued(*issued, authority.certificate(), kNow).ok());
  const auto info = Describe(*issued);
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->common_name, "executor-1");
  EXPECT_EQ(info->from, kNow - 1min);
  EXPECT_EQ(info->until, kNow + kDay);
  EXPECT_FALSE(info->authority);
  EXPECT_EQ(info->fingerprint.size(), 64u);
}

TEST(CertificatesTest, AnAuthorityOutlivesItsProcess) {
  const Authority first = MakeAuthority();
  const auto second = Authority::Load(first.certificate(), first.key());
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_EQ(second->fingerprint(), first.fingerprint());
  EXPECT_EQ(Describe(first.certificate())->fingerprint, first.fingerprint());
  const auto issued = second->IssueFor(NewKey(), For("a"));
  ASSERT_TRUE(issued.ok());
  EXPECT_TRUE(CheckIssued(*issued, first.certificate(), kNow).ok());
}

TEST(CertificatesTest, ACertificateOutsideItsTimeIsDenied) {
  const Authority authority = MakeAuthority();
  const auto issued = authority.IssueFor(NewKey(), For("a"));
  ASSERT_TRUE(issued.ok());
  for (const WallTime when : {kNow - 2min, kNow + kDay + 1s}) {
    EXPECT_EQ(CheckIssued(*issued, authority.certificate(), when).code(), ErrorCode::kDenied);
  }
}

TEST(CertificatesTest, AnotherAuthorityOfTheSameNameIsDenied) {
  const Authority ours = MakeAuthority();
  const Authority theirs = MakeAuthority();
  EXPECT_NE(ours.fingerprint(), theirs.fingerprint());
  const auto issued = theirs.IssueFor(NewKey(), For("a"));
  ASSERT_TRUE(issued.ok());
  EXPECT_EQ(CheckIssued(*issued, ours.certificate(), kNow).code(), ErrorCode::kDenied);
}

TEST(CertificatesTest, ARequestForAnotherNameIsRefused) {
  const auto issued = MakeAuthority().Issue(RequestFor(NewKey(), "executor-2"), For("executor-1"));
  EXPECT_EQ(issued.code(), ErrorCode::kInvalid);
}

// Changes each character of the request's body. A changed request that can still be parsed must
// fail the check of its signature.
TEST(CertificatesTest, ATamperedRequestIsRefused) {
  const Authority authority = MakeAuthority();
  const std::string request = RequestFor(NewKey(), "executor-1");
  const size_t begin = request.find('\n') + 1;
  const size_t end = request.find("-----END");
  size_t tried = 0;
  for (size_t at = begin; at < end; ++at) {
    if (request[at] == '\n' || request[at] == '=') continue;
    // Some bits of the last character before the padding have no meaning.
    if (request[at + 1] == '=' || request[at + 1] == '-' || at + 2 >= end) continue;
    std::string tampered = request;
    tampered[at] = request[at] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(authority.Issue(tampered, For("executor-1")).ok()) << at;
    ++tried;
  }
  EXPECT_GT(tried, 200u);
}

TEST(CertificatesTest, WhatIsNotPemIsRefused) {
  const Authority authority = MakeAuthority();
  const std::string key = NewKey();
  const auto issued = authority.IssueFor(key, For("a"));
  for (const std::string& text :
       {std::string(), std::string("-----BEGIN CERTIFICATE-----"), std::string("\0\xff", 2), key}) {
    EXPECT_EQ(Describe(text).code(), ErrorCode::kInvalid);
    EXPECT_EQ(authority.Issue(text, For("a")).code(), ErrorCode::kInvalid);
    EXPECT_EQ(CheckPair(text, key).code(), ErrorCode::kInvalid);
  }
  EXPECT_EQ(NewRequest("no key", "a").code(), ErrorCode::kInvalid);
  EXPECT_EQ(CheckPair(*issued, NewKey()).code(), ErrorCode::kInvalid);
}

TEST(CertificatesTest, OnlyAnAuthoritysCertificateMaySign) {
  const Authority authority = MakeAuthority();
  const std::string key = NewKey();
  const auto issued = authority.IssueFor(key, For("a"));
  ASSERT_TRUE(issued.ok());
  EXPECT_EQ(Authority::Load(*issued, key).code(), ErrorCode::kInvalid);
  EXPECT_EQ(Authority::Load(authority.certificate(), key).code(), ErrorCode::kInvalid);
}

// In OpenSSL's notation, a text given as one name could contain further names.
TEST(CertificatesTest, ANameBringsNoOtherAlong) {
  const Authority authority = MakeAuthority();
  for (const char* name : {"", "a,DNS:b", "a,IP:1.2.3.4", "a\nb", "@section"}) {
    EXPECT_EQ(authority.IssueFor(NewKey(), For(name)).code(), ErrorCode::kInvalid) << name;
  }
  IssueOptions options = For("a");
  options.addresses = {"1.2.3.4,DNS:b"};
  EXPECT_EQ(authority.IssueFor(NewKey(), options).code(), ErrorCode::kInvalid);
}

}  // namespace
}  // namespace carillon::tls
