import { PasswordInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { FormDialog } from '../parts/dialog.tsx'
import { tell } from '../parts/toasts.tsx'
import { t } from '../words/words.ts'
import { addKey } from './holders.ts'
import { closeKeyDialog, useKeyDialog } from './key-dialog-state.ts'

/** Takes a key into this tab, in memory alone. */
export const KeyDialog = () => {
  const open = useKeyDialog()
  const client = useQueryClient()
  const [secret, setSecret] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const close = (): void => {
    setSecret('')
    setError(null)
    closeKeyDialog()
  }
  const add = async (): Promise<void> => {
    setBusy(true)
    try {
      const { name } = await addKey(secret.trim())
      await client.invalidateQueries()
      tell(t('keys.added', { name }))
      close()
    } catch (told) {
      setError(told)
    } finally {
      setBusy(false)
    }
  }
  return (
    <FormDialog
      title={t('keys.use')}
      open={open}
      close={close}
      submit={() => void add()}
      label={t('keys.add')}
      busy={busy}
      error={error}
      ready={secret.trim() !== ''}
    >
      <p className="muted">{t('keys.lead')}</p>
      <PasswordInput
        label={t('keys.secret')}
        value={secret}
        onChange={(event) => setSecret(event.currentTarget.value)}
        autoComplete="off"
        visibilityToggleButtonProps={{ 'aria-label': t('sign.show') }}
        data-autofocus
      />
    </FormDialog>
  )
}
