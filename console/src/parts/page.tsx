import { type ReactNode, useEffect, useRef } from 'react'
import { t } from '../words/words.ts'
import { shownAs } from './values.tsx'

/** A page: its heading has the focus when one comes to it, its name is that of the tab. */
export const Page = ({
  title,
  lead,
  actions,
  children,
  mono = false,
}: {
  readonly title: string
  readonly lead?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
  readonly mono?: boolean
}) => {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = t('page.title', { page: title })
    heading.current?.focus({ preventScroll: true })
  }, [title])
  return (
    <main id="main" className="page">
      <header className="page-head">
        <div>
          <h1 ref={heading} tabIndex={-1} className={mono ? 'mono' : undefined}>
            {shownAs(title)}
          </h1>
          {lead === undefined ? null : <div className="lead">{lead}</div>}
        </div>
        {actions === undefined ? null : <div className="actions">{actions}</div>}
      </header>
      {children}
    </main>
  )
}

export const Section = ({
  title,
  actions,
  children,
}: {
  readonly title: string
  readonly actions?: ReactNode
  readonly children: ReactNode
}) => (
  <section className="section">
    <div className="section-head">
      <h2>{shownAs(title)}</h2>
      {actions}
    </div>
    {children}
  </section>
)

/** Facts, each under its name. */
export const Facts = ({ facts }: { readonly facts: readonly (readonly [name: string, value: ReactNode])[] }) => (
  <dl className="facts">
    {facts.map(([name, value]) => (
      <div key={name}>
        <dt>{shownAs(name)}</dt>
        <dd>{shownAs(value)}</dd>
      </div>
    ))}
  </dl>
)
