import { Button } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import { isProblem } from '../contract/problem.ts'
import { Icon, type IconName } from '../look/icons.tsx'
import type { May } from '../session/holders.ts'
import { openKeyDialog } from '../session/key-dialog-state.ts'
import { exactTime } from '../values/format.ts'
import { said, t } from '../words/words.ts'
import { shownAs, Written } from './values.tsx'

/** Grey bars where rows will be, once it takes longer than a blink. */
export const Loading = ({ rows = 6 }: { readonly rows?: number }) => {
  const [shown, setShown] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), 150)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div className="skeleton" aria-busy="true">
      <span className="off-screen" role="status">
        {shown ? t('state.loading') : ''}
      </span>
      {shown ? Array.from({ length: rows }, (_, row) => <div key={String(row)} className={`bar b${row % 3}`} />) : null}
    </div>
  )
}

/** What belongs here, how it comes here, and the button that begins it. */
export const Empty = ({
  icon = 'box',
  title,
  children,
}: {
  readonly icon?: IconName
  readonly title: string
  readonly children?: ReactNode
}) => (
  <div className="empty">
    <Icon name={icon} size={20} />
    <h2>{shownAs(title)}</h2>
    {children}
  </div>
)

/** A refusal in our words by its code, with what the service says of it, and a way on. */
export const Failed = ({ error, again }: { readonly error: unknown; readonly again?: () => void }) => {
  const problem = isProblem(error) ? error : null
  const code = problem?.code ?? 'internal'
  return (
    <div className="failed" role="alert">
      <Icon name={code === 'permission_missing' ? 'lock' : 'alert'} size={20} />
      <div>
        <p className="strong">{said('problem', code)}</p>
        {problem?.message ? <p>{shownAs(problem.message)}</p> : null}
        {problem?.faults.map(({ pointer, message }) => (
          <p key={pointer + message} className="muted">
            <Written text={pointer} /> <Written text={message} />
          </p>
        ))}
        <p className="muted small">
          <code>{code}</code>
          {problem?.requestId ? <> · {t('problem.request', { id: problem.requestId })}</> : null}
        </p>
        {again === undefined ? null : (
          <Button size="xs" variant="default" onClick={again} leftSection={<Icon name="refresh" />}>
            {t('state.again')}
          </Button>
        )}
      </div>
    </div>
  )
}

/** What is missing in words, who gives it, and the way round it where there is one. */
export const Forbidden = ({ missing }: { readonly missing: Extract<May, { may: false }> }) => (
  <div className="empty">
    <Icon name="lock" size={20} />
    <h2>{t('forbidden.title')}</h2>
    {missing.missing === 'administrator' ? (
      <>
        <p>{t('forbidden.administrators')}</p>
        <p className="muted">{t('forbidden.makes')}</p>
      </>
    ) : (
      <>
        <p>{t('forbidden.missing', { action: said('action', missing.missing) })}</p>
        <p className="muted">{missing.byKeyOnly ? t('forbidden.key') : t('forbidden.who')}</p>
      </>
    )}
    {missing.byKeyOnly ? (
      <Button variant="default" leftSection={<Icon name="key" />} onClick={openKeyDialog}>
        {t('keys.use')}
      </Button>
    ) : null}
  </div>
)

/** One of the states of a read, or what is made of its answer. */
export function Shown<Data>({
  of,
  rows,
  children,
}: {
  readonly of: {
    readonly data: Data | undefined
    readonly error: unknown
    readonly dataUpdatedAt: number
    readonly refetch: () => unknown
  }
  readonly rows?: number
  readonly children: (data: Data) => ReactNode
}) {
  if (of.data === undefined)
    return of.error === null ? (
      <Loading {...(rows === undefined ? {} : { rows })} />
    ) : (
      <Failed error={of.error} again={() => void of.refetch()} />
    )
  return (
    <>
      {of.error === null ? null : (
        <p className="band warn" role="status">
          {t('state.old', { time: exactTime(new Date(of.dataUpdatedAt).toISOString()) })}{' '}
          <button type="button" className="link" onClick={() => void of.refetch()}>
            {t('state.again')}
          </button>
        </p>
      )}
      {children(of.data)}
    </>
  )
}
