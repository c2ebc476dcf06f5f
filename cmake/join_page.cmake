# SPDX-License-Identifier: Apache-2.0
# cmake -DFOLDER=page -DSCRIPTS=a.js:b.js -DOUT=page.html -P join_page.cmake
# Writes FOLDER/page.html with FOLDER/page.css in place of {{page.css}} and the scripts, in this order, of {{scripts}}.
file(READ ${FOLDER}/page.html page)
file(READ ${FOLDER}/page.css style)
string(REPLACE ":" ";" names "${SCRIPTS}")
set(scripts "")
foreach(name IN LISTS names)
  file(READ ${FOLDER}/${name} script)
  string(REPLACE "// SPDX-License-Identifier: Apache-2.0\n" "" script "${script}")
  string(APPEND scripts "${script}")
endforeach()
string(REPLACE "{{page.css}}" "${style}" page "${page}")
string(REPLACE "{{scripts}}" "${scripts}" page "${page}")
file(WRITE ${OUT} "${page}")
