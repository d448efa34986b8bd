#include <algorithm>
#include <array>
#include <utility>

#include "bevel/projection/family.h"
#include "bevel/support/check.h"

namespace bevel {
namespace {

enum class PatchWeights : uint8_t { signs, uniform, ones };
constexpr std::array kPatchWeightsNames{"signs", "uniform", "ones"};

// One axis of the array whose entries are the features, and the lengths of patches along it.
struct PatchAxis {
  int32_t length, stride;  // stride: features from one entry to the next
  int32_t shortest, longest;
};

struct Patch {
  std::vector<PatchAxis> axes;
  int32_t n_channels = 1, channel_stride = 1;
  bool one_channel = false;  // otherwise a patch covers all channels
  PatchWeights weights = PatchWeights::signs;
  bool shuffle = false;  // the same number of entries at random positions
  bool wrap = false;     // patches wrap around, otherwise they are cut off at the ends
  bool inside = false;   // patches are inside the array
};

class PatchesSampler : public Sampler {
 public:
  PatchesSampler(const Patch& patch, int32_t n_draws) : patch_(patch), n_draws_(n_draws) {
    pixels_.push_back(0);
    if (!patch.shuffle) return;
    for (const PatchAxis& axis : patch.axes) {
      std::vector<int32_t> outer = std::move(pixels_);
      pixels_.clear();
      for (int32_t pixel : outer)
        for (int32_t i = 0; i < axis.length; ++i) pixels_.push_back(pixel + i * axis.stride);
    }
  }

  void prepare(SamplerScratch& scratch) const override {
    scratch.subset.resize(static_cast<int32_t>(pixels_.size()));
  }
  void sample(const NodeRows&, Stream& stream, SamplerScratch& scratch,
              Candidates& out) const override {
    for (int32_t i = 0; i < n_draws_; ++i) {
      draw_patch(stream, scratch);
      if (patch_.shuffle) move_pixels(stream, scratch);
      int32_t first_channel = 0, n_channels = patch_.n_channels;
      if (patch_.one_channel) {
        first_channel = static_cast<int32_t>(stream.below(static_cast<uint64_t>(n_channels)));
        n_channels = 1;
      }
      SignSource signs;
      for (int32_t pixel : scratch.row)
        for (int32_t c = first_channel; c < first_channel + n_channels; ++c)
          out.add_entry(pixel + c * patch_.channel_stride, weight(stream, signs));
      out.close();
    }
  }

 private:
  struct SignSource {
    uint64_t bits = 0;
    int left = 0;
    float next(Stream& stream) {
      if (left == 0) {
        bits = stream.next();
        left = 64;
      }
      const bool positive = bits & 1;
      bits >>= 1;
      --left;
      return positive ? 1.0f : -1.0f;
    }
  };

  struct Range {
    int32_t start, end;
  };

  // Along an axis a size is drawn, then a start: any of the L entries when the array wraps around;
  // any of the L - size + 1 that leave the patch inside; otherwise any of the L + size - 1 where
  // patch and array overlap, of which each entry is covered by `size`.
  Range draw_range(const PatchAxis& axis, Stream& stream) const {
    const auto choices = static_cast<uint64_t>(axis.longest - axis.shortest + 1);
    const int32_t size = axis.shortest + static_cast<int32_t>(stream.below(choices));
    const bool whole = patch_.wrap || patch_.inside;
    const int32_t places = patch_.wrap     ? axis.length
                           : patch_.inside ? axis.length - size + 1
                                           : axis.length + size - 1;
    const auto place = static_cast<int32_t>(stream.below(static_cast<uint64_t>(places)));
    if (whole) return {place, place + size};
    return {std::max(0, place - size + 1), std::min(axis.length, place + 1)};
  }

  // Pixels of a patch, as features of channel 0.
  void draw_patch(Stream& stream, SamplerScratch& scratch) const {
    auto& pixels = scratch.row;
    auto& outer = scratch.column;
    pixels.assign(1, 0);
    for (const PatchAxis& axis : patch_.axes) {
      const auto [start, end] = draw_range(axis, stream);
      std::swap(pixels, outer);
      pixels.clear();
      for (int32_t pixel : outer)
        for (int32_t i = start; i < end; ++i)
          pixels.push_back(pixel + (i < axis.length ? i : i - axis.length) * axis.stride);
    }
  }

  // Replaces the pixels by as many random ones.
  void move_pixels(Stream& stream, SamplerScratch& scratch) const {
    for (int32_t& pixel : scratch.row)
      pixel = pixels_[static_cast<size_t>(scratch.subset.draw(stream))];
    scratch.subset.reset();
  }

  float weight(Stream& stream, SignSource& signs) const {
    switch (patch_.weights) {
      case PatchWeights::signs:
        return signs.next(stream);
      case PatchWeights::uniform:
        return static_cast<float>(2.0 * stream.uniform() - 1.0);
      case PatchWeights::ones:
        break;
    }
    return 1.0f;
  }

  const Patch patch_;
  const int32_t n_draws_;
  std::vector<int32_t> pixels_;  // to shuffle: all of them, as features of channel 0
};

// Tomita's thesis 3.3.8: random weights on the entries of a random patch of an array. All columns
// are numeric.
class PatchesFamily : public Family {
 public:
  PatchesFamily(const FamilySize& size, FamilySettings& settings) : Family(size) {
    std::vector<std::array<int32_t, 4>> axes;
    settings.read("axes", &axes);
    for (auto [length, stride, shortest, longest] : axes)
      patch_.axes.push_back({length, stride, shortest, longest});
    settings.read("n_channels", &patch_.n_channels);
    settings.read("channel_stride", &patch_.channel_stride);
    settings.read("one_channel", &patch_.one_channel);
    settings.read_name("weights", kPatchWeightsNames, patch_.weights);
    settings.read("shuffle", &patch_.shuffle);
    settings.read("wrap", &patch_.wrap);
    settings.read("inside", &patch_.inside);
  }

  std::unique_ptr<Sampler> make_sampler(const SamplerInput&) const override {
    return std::make_unique<PatchesSampler>(patch_, n_draws);
  }
  void check(const DatasetView& data, std::span<const uint64_t>) const override {
    int64_t last = (patch_.n_channels - 1) * static_cast<int64_t>(patch_.channel_stride);
    for (const PatchAxis& axis : patch_.axes) {
      require(1 <= axis.shortest && axis.shortest <= axis.longest && axis.longest <= axis.length,
              "[train] size of a patch");
      last += (axis.length - 1) * static_cast<int64_t>(axis.stride);
    }
    require(!patch_.axes.empty() && last < data.n_features && data.categorical.empty(),
            "[train] patches do not fit the features");
  }

 private:
  Patch patch_;
};

}  // namespace

std::shared_ptr<const Family> make_patches(const FamilySize& size, FamilySettings& settings) {
  return make_family_of<PatchesFamily>(size, settings);
}

}  // namespace bevel
