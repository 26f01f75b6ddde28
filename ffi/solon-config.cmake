# find_package(solon) gives the targets solon::solon, shared, and solon::static.
get_filename_component(_solon_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET solon::solon)
  find_package(Threads REQUIRED)

  add_library(solon::solon SHARED IMPORTED)
  set_target_properties(solon::solon PROPERTIES
    IMPORTED_LOCATION "${_solon_prefix}/lib/libsolon.so"
    IMPORTED_SONAME "libsolon.so.@ABI@"
    INTERFACE_INCLUDE_DIRECTORIES "${_solon_prefix}/include")

  add_library(solon::static STATIC IMPORTED)
  set_target_properties(solon::static PROPERTIES
    IMPORTED_LOCATION "${_solon_prefix}/lib/libsolon.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_solon_prefix}/include"
    INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};gcc_s;util;rt;m")
endif()

unset(_solon_prefix)
