/** What a person sees who opens a page that cannot be shown: the reason in a line, and what to do about it. */
import { card, documentOf } from './frame.ts'
import { markup } from './html.ts'
import { inline } from './prose.ts'

export interface RefusalView {
  readonly status: number
  readonly message: string
  readonly section: 'Versions' | 'Requests' | 'Sign-in'
  /** Where a person can sign in and come back to this page; null where that would not help. */
  readonly signIn?: { readonly name: string; readonly url: string } | null
}

export function refusalPage({ status, message, section, signIn = null }: RefusalView): string {
  return documentOf({
    title: section === 'Sign-in' ? 'You are not signed in' : (TITLES[status] ?? 'This page cannot be shown'),
    section,
    scenario: null,
    home: null,
    eyebrow: `Status ${status}`,
    subtitle: null,
    status: { word: status < 500 ? 'Not shown' : 'Failed', tone: status < 500 ? 'warn' : 'bad' },
    main: card(
      'Why',
      markup`<p>${inline(message)}</p>`,
      section !== 'Sign-in' && markup`<p>${CURES[status] ?? 'Try again in a moment; the log of the service has more about it.'}</p>`,
      signIn !== null && markup`<p><a href="${signIn.url}">Sign in with ${signIn.name}</a></p>`,
    ),
  })
}

const TITLES: Readonly<Record<number, string>> = { 401: 'This link does not open the page', 404: 'There is no such page' }

const CURES: Readonly<Record<number, string>> = {
  400: 'Open the page by the link that the service gave for it: it names the scenario.',
  401: 'A link is good for one scenario, and as long as the token it was made with. Ask for a new one: svc-<agent> page, or GET /svc/harness/releases with your token, gives links.',
  404: 'The scenario may have been deleted, or the link was copied in part. GET /svc/harness/releases lists the versions there are, each with its link.',
  405: 'Open it in a browser, or ask for it with GET.',
}
