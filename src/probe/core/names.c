// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/core/names.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "probe/core/compat.h"

/*
 * File names may contain any byte, as surrogates, which are decoded to the same bytes.
 */
static PyObject *encode(PyObject *text)
{
    static const char *const ways[] = {"surrogateescape", "backslashreplace"};
    PyObject *encoded = NULL;

    for (size_t i = 0; i < 2 && !encoded; i++) {
        PyErr_Clear();
        encoded = PyUnicode_AsEncodedString(text, "utf-8", ways[i]);
    }
    return encoded;
}

/* A NUL would end the text: it is written as \x00.  A new reference, or NULL. */
static PyObject *without_nul(PyObject *text)
{
    PyObject *nul = PyUnicode_FromStringAndSize("", 1);
    PyObject *written = PyUnicode_FromString("\\x00");
    PyObject *result =
        nul && written ? PyUnicode_Replace(text, nul, written, -1) : NULL;

    Py_XDECREF(nul);
    Py_XDECREF(written);
    return result;
}

static bool has_nul(PyObject *text)
{
    return PyUnicode_FindChar(text, 0, 0, PyUnicode_GET_LENGTH(text), 1) >= 0;
}

/* Almost all names need no change. */
static bool is_plain(PyObject *text, size_t size)
{
    return text && PyUnicode_Check(text) && PyUnicode_IS_COMPACT_ASCII(text) &&
           (size_t)PyUnicode_GET_LENGTH(text) < size &&
           !memchr(PyUnicode_DATA(text), 0, (size_t)PyUnicode_GET_LENGTH(text));
}

size_t cunei_names_copy(PyObject *text, char *out, size_t size)
{
    Py_ssize_t length = 0;
    const char *bytes = NULL;
    PyObject *encoded = NULL, *replaced = NULL;
    size_t kept = 0;

    if (is_plain(text, size)) {
        kept = (size_t)PyUnicode_GET_LENGTH(text);
        memcpy(out, PyUnicode_DATA(text), kept + 1);
        return kept;
    }
    if (text && PyUnicode_Check(text) && has_nul(text) &&
        (replaced = without_nul(text)))
        text = replaced;
    if (text && PyUnicode_Check(text)) {
        if (PyUnicode_IS_COMPACT_ASCII(text))
            bytes = PyUnicode_AsUTF8AndSize(text, &length);
        else if ((encoded = encode(text))) {
            bytes = PyBytes_AS_STRING(encoded);
            length = PyBytes_GET_SIZE(encoded);
        }
    }
    if (bytes) {
        kept = cunei_text_cut(bytes, (size_t)length, size - 1);
        memcpy(out, bytes, kept);
    }
    out[kept] = '\0';
    PyErr_Clear();
    Py_XDECREF(encoded);
    Py_XDECREF(replaced);
    return kept;
}

#if PY_VERSION_HEX < 0x03090000

/* The directory in which the program was started, if the probe was loaded then. */
static char folder[CUNEI_NAMES_MAX];

void cunei_names_init(void)
{
    if (!getcwd(folder, sizeof(folder)))
        folder[0] = '\0';
}

void cunei_names_of_file(PyObject *text, char out[CUNEI_NAMES_MAX])
{
    char whole[CUNEI_NAMES_MAX];
    size_t length = cunei_names_copy(text, out, CUNEI_NAMES_MAX);

    if (length == 0 || out[0] == '/' || out[0] == '<')
        return;
    size_t space = (size_t)snprintf(whole, sizeof(whole), "%s/%s", folder,
                                    strncmp(out, "./", 2) == 0 ? out + 2 : out);
    if (folder[0] && space < sizeof(whole) && access(whole, F_OK) == 0)
        memcpy(out, whole, space + 1);
}

#else

void cunei_names_init(void)
{
}

void cunei_names_of_file(PyObject *text, char out[CUNEI_NAMES_MAX])
{
    (void)cunei_names_copy(text, out, CUNEI_NAMES_MAX);
}

#endif

/* tp_name of C types is module.name; without a dot they are builtins. */
static void split_name(const char *name, char module[CUNEI_NAMES_MAX],
                       char qualname[CUNEI_NAMES_MAX])
{
    const char *dot = strrchr(name, '.');

    if (dot)
        (void)snprintf(module, CUNEI_NAMES_MAX, "%.*s", (int)(dot - name), name);
    else
        (void)snprintf(module, CUNEI_NAMES_MAX, "builtins");
    (void)snprintf(qualname, CUNEI_NAMES_MAX, "%s", dot ? dot + 1 : name);
}

PyObject *cunei_names_attribute(PyObject *object, const char *name)
{
    PyObject *attributes = PyObject_GenericGetDict(object, NULL);
    PyObject *value = attributes && PyDict_Check(attributes)
                          ? cunei_compat_dict_get(attributes, name)
                          : NULL;

    PyErr_Clear();
    Py_XDECREF(attributes);
    return value;
}

void cunei_names_of_type(PyTypeObject *type, char module[CUNEI_NAMES_MAX],
                         char qualname[CUNEI_NAMES_MAX])
{
    if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) {
        split_name(type->tp_name, module, qualname);
        return;
    }
    PyObject *attributes = PyType_GetDict(type);
    PyObject *text =
        attributes ? cunei_compat_dict_get(attributes, "__module__") : NULL;
    (void)cunei_names_copy(text, module, CUNEI_NAMES_MAX);
    Py_XDECREF(text);
    text = PyType_GetQualName(type);
    (void)cunei_names_copy(text, qualname, CUNEI_NAMES_MAX);
    PyErr_Clear();
    Py_XDECREF(text);
    Py_XDECREF(attributes);
}
