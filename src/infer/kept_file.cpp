#include "kept_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string_view>
#include <system_error>

#include "entangle/rules/bytes.h"
#include "entangle/support/output_file.h"
#include "entangle/support/sha256.h"

namespace entangle::infer {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kMagic = "entangle kept 1\n";
constexpr std::size_t kDigest = 32;

const std::vector<support::FileId> kNoFiles;

}  // namespace

support::Result<std::optional<std::string>> read_kept(const std::string& path, const std::string& owner) {
  const auto refused = [&](const std::string& why) {
    return support::error("infer/kept-file", {}, path + " is not used: " + why,
                          "it is written again; nothing is lost but time");
  };
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    return std::optional<std::string>();
  }
  if ((status.st_uid != ::geteuid() && status.st_uid != 0) || (status.st_mode & S_IWOTH) != 0) {
    return refused("others may have written it");
  }
  const auto bytes = support::read_file(path);
  if (!bytes) {
    return refused(bytes.error().message);
  }
  std::string_view body = *bytes;
  if (!body.starts_with(kMagic) || body.size() < kMagic.size() + kDigest) {
    return refused("it is damaged");
  }
  const std::string_view digest = body.substr(body.size() - kDigest);
  body.remove_suffix(kDigest);
  if (support::sha256(body) != digest) {
    return refused("it is damaged");
  }
  body.remove_prefix(kMagic.size());
  std::string written_for;
  std::string contents;
  rules::Reader reader(body, kNoFiles);
  reader(written_for, contents);
  if (!reader.ok() || !reader.rest().empty()) {
    return refused("it is damaged");
  }
  return written_for == owner ? std::optional(std::move(contents)) : std::nullopt;
}

support::Status write_kept(const std::string& path, const std::string& owner, const std::string& contents) {
  rules::Writer writer(kNoFiles);
  writer(owner, contents);
  std::string bytes = std::string(kMagic) + writer.take();
  bytes += support::sha256(bytes);
  std::error_code ignored;
  fs::create_directories(fs::path(path).parent_path(), ignored);
  return support::write_file(path, bytes);
}

}  // namespace entangle::infer
