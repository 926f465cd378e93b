#ifndef LAB_PAGE_RESOURCES_H
#define LAB_PAGE_RESOURCES_H

#pragma clang assume_nonnull begin

// The files of the page, each as a string that ends with a zero byte.
extern const char *const page_html;
extern const char *const page_css;
extern const char *const drawing_js;
extern const char *const words_js;
extern const char *const model_js;
extern const char *const path_js;
extern const char *const map_js;
extern const char *const table_js;
extern const char *const race_js;
extern const char *const view_js;
extern const char *const page_js;

#pragma clang assume_nonnull end

#endif
