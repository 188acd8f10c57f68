import { Button, Modal, TextInput } from '@mantine/core'
import { type FormEvent, type ReactNode, useEffect, useState } from 'react'
import { t } from '../words/words.ts'
import { Failed } from './states.tsx'
import { shownAs } from './values.tsx'

/** A dialog over the page. Scrolling is not locked, since that would need a style element. */
export const Dialog = ({
  title,
  open,
  close,
  children,
  size = 'md',
  closable = true,
  instant = false,
}: {
  readonly title: string
  readonly open: boolean
  readonly close: () => void
  readonly children: ReactNode
  readonly size?: 'md' | 'lg'
  readonly closable?: boolean
  /** There at once: for what is typed into while it opens. */
  readonly instant?: boolean
}) => (
  <Modal
    opened={open}
    onClose={close}
    title={shownAs(title)}
    size={size === 'md' ? 460 : 720}
    lockScroll={false}
    withCloseButton={closable}
    closeOnClickOutside={false}
    closeOnEscape={closable}
    closeButtonProps={{ 'aria-label': t('dialog.close') }}
    transitionProps={{ duration: instant ? 0 : 120, transition: 'fade' }}
  >
    {open ? children : null}
  </Modal>
)

/** A form in a dialog: what it says no with stays in it, and what was typed does, too. */
export const FormDialog = ({
  title,
  open,
  close,
  submit,
  label,
  busy,
  error,
  children,
  danger = false,
  ready = true,
  size = 'md',
}: {
  readonly title: string
  readonly open: boolean
  readonly close: () => void
  readonly submit: () => void
  readonly label: string
  readonly busy: boolean
  readonly error: unknown
  readonly children: ReactNode
  readonly danger?: boolean
  readonly ready?: boolean
  readonly size?: 'md' | 'lg'
}) => (
  <Dialog title={title} open={open} close={close} size={size}>
    <form
      className="form"
      onSubmit={(event: FormEvent) => {
        event.preventDefault()
        if (ready && !busy) submit()
      }}
    >
      {children}
      {error === null || error === undefined ? null : <Failed error={error} />}
      <div className="form-end">
        <Button variant="default" onClick={close}>
          {t('dialog.cancel')}
        </Button>
        <Button type="submit" loading={busy} disabled={!ready} {...(danger ? { color: 'red' } : {})}>
          {label}
        </Button>
      </div>
    </form>
  </Dialog>
)

/** Asks for the name of what goes for good, letter by letter. */
export const TypedName = ({ name, typed }: { readonly name: string; readonly typed: (right: boolean) => void }) => {
  const [text, setText] = useState('')
  useEffect(() => typed(text === name), [text, name, typed])
  return (
    <TextInput
      label={t('dialog.type', { name })}
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
      autoComplete="off"
    />
  )
}

/** A secret that is shown once: it stays until somebody says that it is kept. */
export const SecretDialog = ({
  title,
  secret,
  close,
  children,
}: {
  readonly title: string
  readonly secret: string | null
  readonly close: () => void
  readonly children?: ReactNode
}) => (
  <Dialog title={title} open={secret !== null} close={close} closable={false} size="lg">
    <p>{t('secret.once')}</p>
    {children}
    <div className="form-end">
      <Button onClick={close}>{t('secret.kept')}</Button>
    </div>
  </Dialog>
)
