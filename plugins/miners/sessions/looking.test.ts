/** Which command lines only look: what is not plainly one of them may have changed files. */
import { describe, expect, it } from 'vitest'
import { mayChange } from './deeds.ts'
import { onlyLooks } from './looking.ts'

describe('a command line', () => {
  it.each([
    'ls -la',
    ' cat src/add.js\n',
    `grep -rn "foo$" src --include='*.ts'`,
    String.raw`find . \( -name '*.js' -o -name "a b" \) ! -path './x/*'`,
    'sed -n 1,200p src/add.js',
    `sed -n '1,20p; /^export/,$p' src/add.js`,
    'rg --pretty "a|b; c" src',
    'tree -L 2 --noreport',
    'git log --oneline -5',
    'git diff HEAD~1 -- src',
    'ls src 2>/dev/null; pwd',
    'cd src && ls | head -5 || true',
    `grep '# it' a#b.js "#c"`,
    'ls\ncat a.js\n',
    'npm test',
    'cd app && CI=1 npm test 2>&1 | tail -20',
    `npx vitest run -t 'a; b'`,
    'pytest --fixtures',
  ])('%j only looks', (line) => expect(onlyLooks(line)).toBe(true))

  it.each([
    '',
    'ls\nrm b.js',
    'cat a.js; rm b.js',
    'ls & rm b.js',
    'ls || rm b.js',
    'cat $(rm b.js)',
    'cat "$(rm b.js)"',
    'ls `rm b.js`',
    'ls "`rm b.js`"',
    'cat <(rm b.js)',
    'ls $FILES',
    'ls ${X:=y}',
    'cat a.js > b.js',
    'cat a.js >> b.js',
    'ls 2> b.js',
    'ls >/dev/null.js',
    'ls >&b.js',
    'cat <<EOF\nx\nEOF',
    '(rm b.js)',
    '{ rm b.js; }',
    `cat 'a`,
    `cat a.js # it's\nrm b.js # that's it`,
    'ls # "\nrm b.js # "',
    'find . -name b.js -delete',
    `find . '-delete'`,
    'find . -del\\\nete',
    'find . -d{elete,}',
    String.raw`find . -name '*.js' -exec sed -i s/a/b/ {} \;`,
    String.raw`find . -execdir rm x \;`,
    String.raw`find . -ok rm x \;`,
    'find . -fprint b.js',
    'find . -fprintf b.js %p',
    'find . -fls b.js',
    'sort -o b.js a.js',
    'ls | tee b.js',
    'ls | xargs rm',
    'ls | sh',
    'sed -i s/a/b/ b.js',
    'sed -n -i p b.js',
    `sed -n 's/a/b/w b.js' a.js`,
    `sed -n '1e rm b.js' a.js`,
    `sed -n '1w b.js' a.js`,
    'sed -n 1p a.js -i',
    `awk 'BEGIN { system("rm b.js") }'`,
    'rg --pre ./run.sh x',
    'tree -o b.js',
    'tree -aR',
    'file -C -m magic',
    'git branch -D old',
    'git checkout b.js',
    'git diff --output=b.js',
    'git log --out b.js',
    'git diff --ext-diff',
    'git -c core.pager=x log',
    './ls',
    'LS_COLORS=x make',
    'npm test\nrm b.js',
    'rm b.js && npm test',
    'npm test > b.js',
    'npm test -- -u',
    'vitest --update',
    'npx jest -u=true',
    'go test -update ./...',
    'pytest --inline-snapshot=fix',
    'npm run check -- --fix',
    'npm run check -- --write',
    'UPDATE_SNAPSHOTS=1 npm test',
    'INSTA_UPDATE=always cargo test',
    `bash -c "npm test; rm b.js"`,
    `rm "; npm test" b.js`,
  ])('%j may change files', (line) => expect(onlyLooks(line)).toBe(false))

  it('that is very long may change files', () => expect(onlyLooks(`ls ${'x'.repeat(5000)}`)).toBe(false))
})

const changes = (name: string, input: Record<string, string | string[]>): boolean => mayChange({ by: 'call', id: null, name, input })

describe('a call', () => {
  it('of words is what its program makes of them', () => {
    for (const command of [
      ['ls', '-la'],
      ['bash', '-lc', 'ls; pwd'],
      ['grep', `it's; here`, 'a.js'],
    ])
      expect(changes('shell', { command })).toBe(false)
    for (const command of [
      ['rm', 'file'],
      ['python', '-c', 'ls'],
      ['bash', '-lc', 'ls; rm b.js'],
      ['find', '.', '-delete'],
    ])
      expect(changes('shell', { command })).toBe(true)
  })

  it('of a tool that changes what it finds may change files', () => {
    expect(['search_files', 'TodoWrite', 'update_plan'].filter((name) => changes(name, {}))).toEqual([])
    expect(['Bash', 'search_replace', 'find_and_replace'].filter((name) => !changes(name, {}))).toEqual([])
  })
})
