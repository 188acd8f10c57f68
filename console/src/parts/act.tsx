import { Button, type ButtonProps, Tooltip } from '@mantine/core'
import type { OperationId } from '../contract/call.ts'
import { Icon, type IconName } from '../look/icons.tsx'
import { useMay } from '../session/holders.ts'
import { openKeyDialog } from '../session/key-dialog-state.ts'
import { said, t } from '../words/words.ts'

/**
 * A button that does something by an operation. Who may not sees why, and by what it would go; where a key does it, the
 * button says whose.
 */
export const Act = ({
  by,
  on,
  label,
  icon,
  run,
  busy = false,
  off = false,
  ...look
}: {
  readonly by: OperationId
  readonly on?: string
  readonly label: string
  readonly icon?: IconName
  readonly run: () => void
  readonly busy?: boolean
  readonly off?: boolean
} & Pick<ButtonProps, 'variant' | 'color' | 'size'>) => {
  const allowed = useMay()(by, on)
  const picture = icon === undefined ? {} : { leftSection: <Icon name={icon} /> }
  if (!allowed.may) {
    const reason = t('forbidden.missing', { action: said('action', allowed.missing) })
    return (
      <Tooltip
        label={allowed.byKeyOnly ? `${reason} ${t('forbidden.key')}` : `${reason} ${t('forbidden.who')}`}
        multiline
        w={260}
        events={{ hover: true, focus: true, touch: true }}
      >
        <Button
          variant="default"
          {...look}
          {...picture}
          aria-disabled
          className="refused"
          onClick={allowed.byKeyOnly ? openKeyDialog : () => {}}
        >
          {label}
        </Button>
      </Tooltip>
    )
  }
  const name =
    allowed.as === null || allowed.as.id === 'session' ? label : t('keys.as', { what: label, name: allowed.as.name })
  return (
    <Button variant="default" {...look} {...picture} loading={busy} disabled={off} onClick={run}>
      {name}
    </Button>
  )
}
