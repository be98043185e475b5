/**
 * `npm run test:titles`: how many distinct behaviours the tests hold, by title, over all commands. With the result file of an earlier run
 * (`vitest run --reporter=json`) it also prints which titles are gone and which are new.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pinnedNode, prepare, ROOT, runScript } from './lib.mjs'

const CONFIGS = ['', 'test/agents/', 'test/browser/', 'test/frameworks/', 'test/package/'].map((folder) => `${folder}vitest.config.ts`)

runScript(async () => {
  await prepare()
  const folder = mkdtempSync(join(tmpdir(), 'svc-titles-'))
  try {
    const listed = CONFIGS.flatMap((config) => list(config, join(folder, 'titles.json')))
    for (const name of new Set(listed.map(({ project }) => project)))
      print(name, distinct(listed.filter(({ project }) => project === name)).length)
    const titles = distinct(listed)
    print('distinct titles', titles.length)
    for (const file of process.argv.slice(2)) compare(file, titles)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

function list(config, file) {
  const { status, stderr } = spawnSync(
    pinnedNode(),
    ['node_modules/vitest/vitest.mjs', 'list', '--staticParse=false', '--config', config, `--json=${file}`],
    {
      cwd: ROOT,
      encoding: 'utf8',
      env: { ...process.env, TEST_TITLES: '1' },
    },
  )
  if (status !== 0) throw new Error(`${config}: the tests cannot be listed: ${stderr.trim()}`)
  const project = /^test\/(\w+)\//.exec(config)?.[1]
  return JSON.parse(readFileSync(file, 'utf8')).map(({ name, projectName }) => ({ title: name, project: project ?? projectName }))
}

const distinct = (tests) => [...new Set(tests.map(({ title }) => title))]

function compare(file, titles) {
  const { testResults } = JSON.parse(readFileSync(file, 'utf8'))
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults)
  const before = new Set(tests.map(({ ancestorTitles, title }) => [...ancestorTitles, title].join(' > ')))
  print(`distinct titles in ${file}`, before.size)
  const now = new Set(titles)
  for (const title of [...before].filter((one) => !now.has(one)).sort((a, b) => a.localeCompare(b))) process.stdout.write(`- ${title}\n`)
  for (const title of [...now].filter((one) => !before.has(one)).sort((a, b) => a.localeCompare(b))) process.stdout.write(`+ ${title}\n`)
}

function print(words, count) {
  process.stdout.write(`${String(count).padStart(6)}  ${words}\n`)
}
