/** Buttons, small unless their class says otherwise. */
import type { ComponentChildren } from 'preact'

interface ButtonProps {
  readonly onClick: () => void
  readonly class?: string
  readonly children: ComponentChildren
}

export function Button({ onClick, class: style = 'small', children }: ButtonProps) {
  return (
    <button type="button" class={`button ${style}`} onClick={onClick}>
      {children}
    </button>
  )
}

interface ToggleProps extends Omit<ButtonProps, 'onClick'> {
  readonly isOn: boolean
  readonly set: (isOn: boolean) => void
}

export function Toggle({ isOn, set, class: style = 'small', children }: ToggleProps) {
  return (
    <button type="button" class={`button ${style}`} aria-pressed={isOn} onClick={() => set(!isOn)}>
      {children}
    </button>
  )
}
