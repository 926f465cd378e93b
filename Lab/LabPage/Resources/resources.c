// Embeds the files of the page in the program. C does it with `#embed`, because the Swift compiler
// takes many seconds for array literals of this size.
#include "LabPageResources.h"

// `#embed` is standard since C23.
#pragma clang diagnostic ignored "-Wc23-extensions"

const char *const page_html = (const char[]){
#embed "page.html" suffix(, )
    0};

const char *const page_css = (const char[]){
#embed "page.css" suffix(, )
    0};

const char *const drawing_js = (const char[]){
#embed "drawing.js" suffix(, )
    0};

const char *const words_js = (const char[]){
#embed "words.js" suffix(, )
    0};

const char *const model_js = (const char[]){
#embed "model.js" suffix(, )
    0};

const char *const path_js = (const char[]){
#embed "path.js" suffix(, )
    0};

const char *const map_js = (const char[]){
#embed "map.js" suffix(, )
    0};

const char *const table_js = (const char[]){
#embed "table.js" suffix(, )
    0};

const char *const race_js = (const char[]){
#embed "race.js" suffix(, )
    0};

const char *const view_js = (const char[]){
#embed "view.js" suffix(, )
    0};

const char *const page_js = (const char[]){
#embed "page.js" suffix(, )
    0};
