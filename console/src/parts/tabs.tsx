import { type ReactNode, useEffect, useRef } from 'react'

/** Links to the parts of a page. Where not all of them have room, the one that is open is in sight. */
export const Tabs = ({
  label,
  at,
  children,
}: {
  readonly label: string
  /** Which of them is open. */
  readonly at: number
  readonly children: ReactNode
}) => {
  const all = useRef<HTMLElement>(null)
  useEffect(() => {
    const open = all.current?.children[at]
    if (all.current !== null && open instanceof HTMLElement)
      all.current.scrollLeft = open.offsetLeft - all.current.offsetLeft - 48
  }, [at])
  return (
    <nav className="tabs" aria-label={label} ref={all}>
      {children}
    </nav>
  )
}
