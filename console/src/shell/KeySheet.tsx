import { useMemo } from 'preact/hooks'
import { activeKeys } from '../keys.js'
import { Dialog } from '../parts/Dialog.js'

const signs: Readonly<Record<string, string>> = {
  ArrowDown: '↓',
  ArrowUp: '↑',
  Escape: 'Esc',
}

/** The keys that act on the screen that is shown. Each of them has something to click too. */
export function KeySheet({ onClose }: { onClose(): void }) {
  const groups = useMemo(activeKeys, [])
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      {groups.map(({ where, keys }) => (
        <section key={where}>
          <h3>{where}</h3>
          <dl class="keys">
            {keys.map(({ what, names }) => (
              <div key={what}>
                <dt>
                  {names.map((name) => (
                    <kbd key={name}>{signs[name] ?? name}</kbd>
                  ))}
                </dt>
                <dd>{what}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <p class="muted">
        <kbd>Esc</kbd> also leaves a field and closes a dialog. None of the others acts while you
        type.
      </p>
    </Dialog>
  )
}
