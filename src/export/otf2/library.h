// SPDX-License-Identifier: MIT
/*
 * libotf2, loaded when an archive is written, so that cunei starts without it.
 *
 *     const struct cunei_otf2_library *otf2 = cunei_otf2_load();
 *     if (otf2)
 *         archive = otf2->Archive_Open(…);
 */
#ifndef CUNEI_EXPORT_OTF2_LIBRARY_H
#define CUNEI_EXPORT_OTF2_LIBRARY_H

#include <otf2/otf2.h>

/* The functions that we call. */
#define CUNEI_OTF2_FUNCTIONS(DO)                   \
    DO(Archive_Close)                              \
    DO(Archive_CloseDefFiles)                      \
    DO(Archive_CloseDefWriter)                     \
    DO(Archive_CloseEvtFiles)                      \
    DO(Archive_CloseEvtWriter)                     \
    DO(Archive_GetDefWriter)                       \
    DO(Archive_GetEvtWriter)                       \
    DO(Archive_GetGlobalDefWriter)                 \
    DO(Archive_Open)                               \
    DO(Archive_OpenDefFiles)                       \
    DO(Archive_OpenEvtFiles)                       \
    DO(Archive_SetCreator)                         \
    DO(Archive_SetFlushCallbacks)                  \
    DO(Archive_SetMemoryCallbacks)                 \
    DO(Archive_SetSerialCollectiveCallbacks)       \
    DO(AttributeList_AddStringRef)                 \
    DO(AttributeList_Delete)                       \
    DO(AttributeList_New)                          \
    DO(Error_RegisterCallback)                     \
    DO(EvtWriter_Enter)                            \
    DO(EvtWriter_Leave)                            \
    DO(EvtWriter_MeasurementOnOff)                 \
    DO(EvtWriter_Metric)                           \
    DO(EvtWriter_ParameterString)                  \
    DO(EvtWriter_ParameterUnsignedInt)             \
    DO(GlobalDefWriter_WriteAttribute)             \
    DO(GlobalDefWriter_WriteClockProperties)       \
    DO(GlobalDefWriter_WriteLocation)              \
    DO(GlobalDefWriter_WriteLocationGroup)         \
    DO(GlobalDefWriter_WriteLocationGroupProperty) \
    DO(GlobalDefWriter_WriteLocationProperty)      \
    DO(GlobalDefWriter_WriteMetricClass)           \
    DO(GlobalDefWriter_WriteMetricMember)          \
    DO(GlobalDefWriter_WriteParameter)             \
    DO(GlobalDefWriter_WriteRegion)                \
    DO(GlobalDefWriter_WriteString)                \
    DO(GlobalDefWriter_WriteSystemTreeNode)

struct cunei_otf2_library {
#define CUNEI_OTF2_POINTER(name) __typeof__(OTF2_##name) *(name);
    CUNEI_OTF2_FUNCTIONS(CUNEI_OTF2_POINTER)
#undef CUNEI_OTF2_POINTER
};

/* NULL: not installed, or without a function that we need.  It stays loaded. */
const struct cunei_otf2_library *cunei_otf2_load(void);

#endif
