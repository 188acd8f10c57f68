import { useRouter } from '@tanstack/react-router'
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
  const router = useRouter()
  useEffect(() => {
    const look = (): void => {
      const open = all.current?.children[at]
      if (all.current !== null && open instanceof HTMLElement)
        all.current.scrollLeft = open.offsetLeft - all.current.offsetLeft - 48
    }
    look()
    // A page that is drawn finds whatever scrolls as the one before it had left it.
    return router.subscribe('onRendered', look)
  }, [at, router])
  return (
    <nav className="tabs" aria-label={label} ref={all}>
      {children}
    </nav>
  )
}
