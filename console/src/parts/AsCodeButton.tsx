import { useSignal } from '@preact/signals'
import { AsCode, type Codes } from './AsCode.js'
import { Icon } from './Icon.js'

type AsCodeButtonProps = { readonly title: string; readonly codes: Codes }

/** Shows on demand how the API and the command line say what the screen says. */
export function AsCodeButton({ title, codes }: AsCodeButtonProps) {
  const isOpen = useSignal(false)
  return (
    <>
      <button
        type="button"
        class="as-code"
        aria-label="As code"
        onClick={() => {
          isOpen.value = true
        }}
      >
        <Icon name="code" /> <span class="label">As code</span>
      </button>
      {isOpen.value && (
        <AsCode
          title={title}
          codes={codes}
          onClose={() => {
            isOpen.value = false
          }}
        />
      )}
    </>
  )
}
