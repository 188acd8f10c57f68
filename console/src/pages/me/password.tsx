import { PasswordInput } from '@mantine/core'
import { useState } from 'react'
import { useChange } from '../../contract/asking.ts'
import { Act } from '../../parts/act.tsx'
import { FormDialog } from '../../parts/dialog.tsx'
import { Section } from '../../parts/page.tsx'
import { endSession } from '../../session/session.ts'
import { t } from '../../words/words.ts'

/** A new password, which ends every session and token. */
export const Password = () => {
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
  const [open, setOpen] = useState(false)
  const change = useChange('changePassword')
  const submit = async (): Promise<void> => {
    await change.mutateAsync({ body: { currentPassword: current, newPassword: next } })
    endSession()
  }
  return (
    <Section
      title={t('sign.password')}
      actions={<Act by="changePassword" icon="lock" label={t('me.change')} run={() => setOpen(true)} />}
    >
      <p className="muted">{t('me.changing')}</p>
      <FormDialog
        title={t('me.change')}
        open={open}
        close={() => setOpen(false)}
        submit={() => void submit().catch(() => {})}
        label={t('me.change')}
        busy={change.isPending}
        error={change.error}
        ready={current !== '' && next !== ''}
      >
        <PasswordInput
          label={t('me.current')}
          value={current}
          onChange={(event) => setCurrent(event.currentTarget.value)}
          autoComplete="current-password"
          visibilityToggleButtonProps={{ 'aria-label': t('sign.show') }}
          data-autofocus
        />
        <PasswordInput
          label={t('me.next')}
          description={t('sign.length')}
          value={next}
          onChange={(event) => setNext(event.currentTarget.value)}
          autoComplete="new-password"
          visibilityToggleButtonProps={{ 'aria-label': t('sign.show') }}
        />
      </FormDialog>
    </Section>
  )
}
