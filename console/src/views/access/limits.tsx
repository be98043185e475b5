/** The limits of a token: what it used of them, and a form that changes them. */
import { useState } from 'preact/hooks'
import type { ListedToken, TokenLimits } from '@svc-ai/client'
import { LIMIT_KINDS, LIMIT_WORDS } from '../../../../src/presentation/index.ts'
import { useSession } from '../../session.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'

/** What is typed, by limit. Empty: as the configuration says. */
export type TypedLimits = Readonly<Partial<Record<keyof TokenLimits, string>>>

export const limitsIn = (typed: TypedLimits): TokenLimits =>
  Object.fromEntries(LIMIT_KINDS.filter((kind) => (typed[kind] ?? '') !== '').map((kind) => [kind, Number(typed[kind])]))

export function LimitFields({ typed, type }: { readonly typed: TypedLimits; readonly type: (typed: TypedLimits) => void }) {
  return (
    <>
      {LIMIT_KINDS.map((kind) => (
        <label class="field" key={kind}>
          <span>Limit of {LIMIT_WORDS[kind]}; empty as configured, 0 for none</span>
          <input
            inputMode="decimal"
            pattern="[0-9.]*"
            value={typed[kind] ?? ''}
            onInput={(event) => type({ ...typed, [kind]: event.currentTarget.value })}
          />
        </label>
      ))}
    </>
  )
}

export function ChangeLimits({
  token: { name, limits = {} },
  changed,
}: {
  readonly token: ListedToken
  readonly changed: () => Promise<void>
}) {
  const { service } = useSession()
  const [typed, type] = useState<TypedLimits | null>(null)
  const act = async (): Promise<void> => {
    await service().limitToken(name, limitsIn(typed ?? {}))
    await changed()
  }
  const open = (): void => type(Object.fromEntries(Object.entries(limits).map(([kind, limit]) => [kind, String(limit)])))
  return (
    <>
      <Button class="small" onClick={open}>
        Limits<span class="hidden-visually"> of {name}</span>
      </Button>
      {typed !== null && (
        <Confirm title={`Limits of ${name}`} verb={`Change the limits of ${name}`} act={act} close={() => type(null)}>
          <LimitFields typed={typed} type={type} />
        </Confirm>
      )}
    </>
  )
}
