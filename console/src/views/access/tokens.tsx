/** The tokens: made, listed, limited, rotated and revoked. A secret is shown once, and gone with the page. */
import { useState } from 'preact/hooks'
import type { ListedToken, NewToken, TokenRow } from '@svc-ai/client'
import { limitWords, ROLES, roleWords, useWords } from '../../../../src/presentation/index.ts'
import { useAction } from '../../data/use-action.ts'
import { usePolled } from '../../poll.ts'
import { useSession } from '../../session.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Command } from '../../ui/command.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Done } from '../../ui/done.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Options } from '../../ui/options.tsx'
import { Table } from '../../ui/table.tsx'
import { Text } from '../../ui/text.tsx'
import { Ago, Clock } from '../../ui/time.tsx'
import { ChangeLimits, LimitFields, limitsIn, type TypedLimits } from './limits.tsx'

const AGAIN_SECONDS = 10
/** Names of sign-ins of people begin with it. They can be revoked alone. */
const SIGN_IN = 'sign-in:'
const COLUMNS = ['Name', 'Role', 'Scenarios', 'Expires', 'Made', 'By', 'Used', 'Change'] as const

export function Tokens() {
  const { value, said, refresh } = usePolled('tokens', (service) => service().tokens(), AGAIN_SECONDS)
  const [made, setMade] = useState<NewToken | null>(null)
  // The secret of another token stays until it was taken.
  const show: ShowsToken['show'] = (name, token) => {
    setMade((shown) => token ?? (shown?.name === name ? null : shown))
    void refresh()
  }
  return (
    <Card title="Tokens" aside={<span class="muted small">without those of the configuration</span>}>
      <Notice said={said} />
      {made !== null && <Secret made={made} close={() => setMade(null)} />}
      {value?.length === 0 && <p class="muted">No token was made yet.</p>}
      {value !== null && value.length > 0 && (
        <Table columns={COLUMNS}>
          {value.map((token) => (
            <Row key={token.name} token={token} show={show} changed={refresh} />
          ))}
        </Table>
      )}
      <NewTokenForm show={show} />
    </Card>
  )
}

function Secret({ made: { name, token }, close }: { readonly made: NewToken; readonly close: () => void }) {
  return (
    <div class="notice good" role="status">
      <b>
        <Text value={name} /> has this secret. It is shown this once; only its hash is kept.
      </b>
      <Command line={token} />
      <Button onClick={close}>I have it</Button>
    </div>
  )
}

interface ShowsToken {
  /** Null: the token is gone. */
  readonly show: (name: string, token: NewToken | null) => void
}

function Row({ token, show, changed }: { readonly token: ListedToken; readonly changed: () => Promise<void> } & ShowsToken) {
  const { name, role, scenarios, created_at: made, created_by: by, expires_at: expires, limits, use } = token
  return (
    <tr>
      <td data-label="Name">
        <b>
          <Text value={name} />
        </b>
      </td>
      <td data-label="Role">
        <span title={roleWords(role)}>{role}</span>
      </td>
      <td data-label="Scenarios">{scenarios === null ? 'all' : <Text value={scenarios.join(', ')} />}</td>
      <td data-label="Expires">{expires === null ? 'never' : <Expiry at={expires} />}</td>
      <td data-label="Made">
        <Ago at={made} />
      </td>
      <td data-label="By">
        <Text value={by} />
      </td>
      <td data-label="Used">
        <span title={limits === undefined ? 'limits as configured' : `of its own: ${limitWords(limits)}`}>{useWords(use)}</span>
      </td>
      <td data-label="Change">
        <span class="row">
          {!name.startsWith(SIGN_IN) && <ChangeLimits token={token} changed={changed} />}
          {!name.startsWith(SIGN_IN) && <Change token={token} verb="Rotate" show={show} />}
          <Change token={token} verb="Revoke" show={show} />
        </span>
      </td>
    </tr>
  )
}

function Expiry({ at }: { readonly at: number }) {
  if (at * 1000 <= Date.now()) return <Badge tone="bad">expired</Badge>
  return <Clock at={at} />
}

const CONSEQUENCES = {
  Rotate: 'It gets another secret, which is shown once. The one it has now is refused at once.',
  Revoke: 'It is refused at once, and its name is free again. Whoever uses it stops working.',
} as const

function Change({ token: { name }, verb, show }: { readonly token: TokenRow; readonly verb: keyof typeof CONSEQUENCES } & ShowsToken) {
  const { service, renew } = useSession()
  const [isAsked, setAsked] = useState(false)
  const act = async (): Promise<void> => {
    if (verb === 'Rotate') return show(name, await renew(() => service().rotateToken(name)))
    await service().revokeToken(name)
    show(name, null)
  }
  return (
    <>
      <Button class={`small ${verb === 'Revoke' ? 'danger' : ''}`} onClick={() => setAsked(true)}>
        {verb}
        <span class="hidden-visually"> {name}</span>
      </Button>
      {isAsked && (
        <Confirm title={`${verb} ${name}?`} verb={`${verb} ${name}`} act={act} close={() => setAsked(false)}>
          <p>{CONSEQUENCES[verb]}</p>
        </Confirm>
      )}
    </>
  )
}

function NewTokenForm({ show }: ShowsToken) {
  const { service } = useSession()
  const { isBusy, said, done, act } = useAction()
  const [name, setName] = useState('')
  const [role, setRole] = useState<(typeof ROLES)[number]>('read')
  const [scenarios, setScenarios] = useState('')
  const [days, setDays] = useState('')
  const [typed, type] = useState<TypedLimits>({})
  const make = (): Promise<void> =>
    act(
      async () => {
        const names = scenarios.split('\n').filter((line) => line.trim() !== '')
        const limits = limitsIn(typed)
        const made = await service().createToken({
          name: name.trim(),
          role,
          ...(names.length > 0 && { scenarios: names }),
          ...(days !== '' && { expires_in_days: Number(days) }),
          ...(Object.keys(limits).length > 0 && { limits }),
        })
        show(made.name, made)
        setName('')
      },
      () => null,
    )
  return (
    <details class="fold">
      <summary>New token</summary>
      <form
        class="token-form"
        onSubmit={(event) => {
          event.preventDefault()
          if (!isBusy) void make()
        }}
      >
        <label class="field">
          <span>Name of the token</span>
          <input required autocomplete="off" value={name} onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <label class="field">
          <span>Role</span>
          <select value={role} onChange={({ currentTarget }) => setRole(ROLES.find((each) => each === currentTarget.value) ?? role)}>
            <Options of={ROLES} />
          </select>
        </label>
        <label class="field">
          <span>Scenarios, one a line; none for all</span>
          <textarea rows={2} value={scenarios} onInput={(event) => setScenarios(event.currentTarget.value)} />
        </label>
        <label class="field">
          <span>Expires in days; empty for never</span>
          <input inputMode="decimal" pattern="[0-9.]*" value={days} onInput={(event) => setDays(event.currentTarget.value)} />
        </label>
        <LimitFields typed={typed} type={type} />
        <div class="row">
          <button class="button primary" disabled={isBusy}>
            Make the token
          </button>
        </div>
      </form>
      <p class="muted small">
        The role {role} may: {roleWords(role)}.
      </p>
      <Done said={said} done={done} />
    </details>
  )
}
