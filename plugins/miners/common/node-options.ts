/** The options that a script gives to `node --test`: what it loads first, and how it reads files. */

/** A word of a shell as it is written, without what a shell puts in its place. */
const WORD = /(?:[^\s'"\\;&|<>()$`]|'[^']*'|"[^"\\$`]*")+/y
/** Those whose value may be the next word. */
const VALUED =
  /^(?:-r|-C|--(?:require|import|loader|experimental-loader|conditions|env-file|env-file-if-exists|disable-warning|input-type|icu-data-dir|title|unhandled-rejections|dns-result-order|max-http-header-size|openssl-config|localstorage-file|experimental-config-file|test-[\w-]+|experimental-test-(?:isolation|tag-filter)|watch-path))$/
const UNVALUED = /^--test-(?:force-exit|only|update-snapshots|randomize)$/
/** What chooses tests, writes reports or never ends: the tests of a commit are all that runs, and its verdict is an exit status. */
const LEFT_OUT =
  /^--(?:test$|watch|inspect|test-(?:name-pattern|skip-pattern|only|shard|update-snapshots|rerun-failures|reporter|coverage|random)|experimental-test-(?:coverage|tag-filter))/

/** As they are written; none where the script starts no `node --test`. */
export function nodeOptionsIn(script: string): readonly string[] {
  for (const { index, 0: start } of script.matchAll(/(?<![\w./-])node(?=\s)/g)) {
    const options = optionsAt(script, index + start.length)
    if (options.some(([name]) => name === '--test')) return options.filter(([name]) => !LEFT_OUT.test(name)).flat()
  }
  return []
}

/** Up to the first word that is none, with their values. */
function optionsAt(script: string, start: number): readonly (readonly [name: string, ...value: string[]])[] {
  const words = wordsAt(script, start)
  const options: [string, ...string[]][] = []
  for (let at = 0; at < words.length; at += 1) {
    const name = words[at] ?? ''
    if (!name.startsWith('-') || name === '--') break
    if (!VALUED.test(name) || UNVALUED.test(name)) options.push([name])
    else {
      const value = words[(at += 1)]
      // What the shell would put there is not known.
      if (value === undefined) break
      options.push([name, value])
    }
  }
  return options
}

function wordsAt(script: string, start: number): readonly string[] {
  const words: string[] = []
  for (let at = start; at < script.length; at = WORD.lastIndex) {
    WORD.lastIndex = at + (/^[ \t]*/.exec(script.slice(at))?.[0].length ?? 0)
    const [word] = WORD.exec(script) ?? []
    if (word === undefined) break
    words.push(word)
  }
  return words
}
