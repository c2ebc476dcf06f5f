# SPDX-License-Identifier: Apache-2.0
# cmake -DIN=page.html -DOUT=page.cc -DHEADER=server/web/page.h -DNAME=tritond::server::kPage -P embed_text.cmake
# Writes a source that defines the file's text as the array NAME, which HEADER declares.
file(READ ${IN} text)
string(FIND "${text}" ")text\"" clash)
if(NOT clash EQUAL -1)
  message(FATAL_ERROR "${IN} holds the end of a raw string")
endif()
file(WRITE ${OUT} "#include \"${HEADER}\"\n\nconst char ${NAME}[] = R\"text(${text})text\";\n")
