/** llms.txt: the documents on one page, for people who read with a model. Titles and sentences are the documents' own. */
import { join } from 'node:path'
import { documentGroups, sentenceOf, titleOf } from '../site/documents.ts'

export const LLMS_PAGE = 'llms.txt'

const root = join(import.meta.dirname, '..')

const NOTES = [
  'Clients keep their SDK, change the base address, and send one more header: `x-svc-scenario`, the workload a request belongs to.',
  'A running service describes every route, body, answer and refusal at `/openapi.json` (OpenAPI 3.1), behind the same token as the rest.',
  '`npm start` serves on `http://127.0.0.1:8900`, with a built-in mock model when no upstream is found.',
]

export function llmsPage(): string {
  const sections = documentGroups(root).map(({ name, pages }) => [`## ${name}`, '', ...pages.map(lineOf)].join('\n'))
  const head = [`# ${titleOf(root, 'README.md')}`, `> ${sentenceOf(root, 'README.md')}`, NOTES.map((note) => `- ${note}`).join('\n')]
  return `${[...head, ...sections].join('\n\n')}\n`
}

const lineOf = (page: string): string => `- [${titleOf(root, page)}](${page}): ${sentenceOf(root, page)}`
