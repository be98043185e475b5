/** Whether the screen is such, for what style sheets alone cannot decide. */
import { useEffect, useState } from 'preact/hooks'

export function useMedia(query: string): boolean {
  const [isSuch, setSuch] = useState(() => matchMedia(query).matches)
  useEffect(() => {
    const list = matchMedia(query)
    const follow = (): void => setSuch(list.matches)
    follow()
    list.addEventListener('change', follow)
    return () => list.removeEventListener('change', follow)
  }, [query])
  return isSuch
}
