#!/bin/sh
# Stands in for npm: makes the package that it is asked for, with one small program in it; or fails, when the machine says so.
set -eu
MACHINE=${HOME%/*}
while [ $# -gt 1 ]; do [ "$1" = --prefix ] && prefix=$2; shift; done
case $1 in *@*) wanted=$1 ;; *) wanted=$(sed 's/.*"dependencies":{"\([^"]*\)":"\([^"]*\)".*/\1@\2/' "$prefix/package.json") ;; esac
package=${wanted%@*} version=${wanted##*@}
printf '%s\n' "$wanted" >>"$MACHINE/npm.log"
if [ -e "$MACHINE/npm-fails" ]; then
  echo 'npm error code ENETUNREACH'
  exit 1
fi
mkdir -p "$prefix/node_modules/$package" "$prefix/node_modules/.bin"
printf '{"name": "%s", "version": "%s"}\n' "$package" "$version" >"$prefix/node_modules/$package/package.json"
# Says its version, asks its model once for every argument, or has a wish of the person's filed.
cat >"$prefix/node_modules/$package/agent.cjs" <<'AGENT'
#!/usr/bin/env node
const { execFileSync } = require('node:child_process')
const { readFileSync } = require('node:fs')

async function answerTo(prompt) {
  const { providers } = JSON.parse(readFileSync(`${process.env.PI_CODING_AGENT_DIR}/models.json`, 'utf8'))
  const [{ baseUrl, apiKey, models }] = Object.values(providers)
  const body = JSON.stringify({ model: models[0].id, messages: [{ role: 'user', content: prompt }] })
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` }
  const answer = await fetch(`${baseUrl}/chat/completions`, { method: 'POST', headers, body })
  return (await answer.json()).choices[0].message.content
}

const filed = (wish) => execFileSync(process.env.SVC_WRAPPER, ['harness', wish], { encoding: 'utf8' })

async function main(prompts) {
  if (prompts.includes('--version')) return console.log(require('./package.json').version)
  if (prompts.includes('--wait')) return setInterval(() => undefined, 1000)
  for (const prompt of prompts) console.log(prompt.startsWith('/harness ') ? filed(prompt.slice(9)) : await answerTo(prompt))
}
main(process.argv.slice(2))
AGENT
chmod +x "$prefix/node_modules/$package/agent.cjs"
for binary in pi codex; do ln -sf "../$package/agent.cjs" "$prefix/node_modules/.bin/$binary"; done
