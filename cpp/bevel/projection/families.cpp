// The table of families of directions.
#include <algorithm>
#include <stdexcept>

#include "bevel/projection/family.h"

namespace bevel {

using FamilyMaker = std::shared_ptr<const Family>(const FamilySize& size, FamilySettings& settings);
// Each is defined in a source of samplers/.
FamilyMaker make_axis, make_categorical, make_signs, make_combination, make_gaussian, make_rotation,
    make_multirotation, make_principal, make_patches, make_ridge, make_lda, make_logistic, make_pls,
    make_cca, make_cox, make_custom;

namespace {

struct NamedFamily {
  const char* name;
  FamilyMaker* make;
};

constexpr NamedFamily kFamilies[] = {
    {"axis", make_axis},
    {"categorical", make_categorical},
    {"signs", make_signs},
    {"combination", make_combination},
    {"gaussian", make_gaussian},
    {"rotation", make_rotation},
    {"multirotation", make_multirotation},
    {"principal", make_principal},
    {"patches", make_patches},
    {"ridge", make_ridge},
    {"lda", make_lda},
    {"logistic", make_logistic},
    {"pls", make_pls},
    {"cca", make_cca},
    {"cox", make_cox},
    {"custom", make_custom},
};

}  // namespace

std::shared_ptr<const Family> make_family(const std::string& name, const FamilySize& size,
                                          FamilySettings& settings) {
  for (const NamedFamily& family : kFamilies)
    if (name == family.name) return family.make(size, settings);
  throw std::invalid_argument("[Family] unknown family '" + name + "'");
}

bool any_family(const Options& options, bool (Family::*has)() const) {
  return std::any_of(options.families.begin(), options.families.end(),
                     [has](const auto& family) { return ((*family).*has)(); });
}

}  // namespace bevel
