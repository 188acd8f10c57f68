import { Button, Modal, TextInput } from '@mantine/core'
import { type FormEvent, type ReactNode, useState } from 'react'
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

interface FormIn {
  readonly close: () => void
  readonly submit: () => void
  readonly label: string
  readonly busy: boolean
  readonly error: unknown
  readonly children: ReactNode
  readonly danger?: boolean
  readonly ready?: boolean
  /** What goes for good: its name has to be typed, letter by letter. */
  readonly named?: string | null
}

/** A form in a dialog: what it says no with stays in it, and what was typed does, too. */
export const FormDialog = ({
  title,
  open,
  size = 'md',
  ...form
}: FormIn & { readonly title: string; readonly open: boolean; readonly size?: 'md' | 'lg' }) => (
  <Dialog title={title} open={open} close={form.close} size={size}>
    <Form {...form} />
  </Dialog>
)

/** Is there while its dialog is open, so that the next one begins with an empty name. */
const Form = ({
  close,
  submit,
  label,
  busy,
  error,
  children,
  danger = false,
  ready: filled = true,
  named = null,
}: FormIn) => {
  const [typed, setTyped] = useState('')
  const ready = filled && (named === null || typed === named)
  return (
    <form
      className="form"
      onSubmit={(event: FormEvent) => {
        event.preventDefault()
        if (ready && !busy) submit()
      }}
    >
      {children}
      {named === null ? null : (
        <TextInput
          label={t('dialog.type', { name: named })}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
        />
      )}
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
