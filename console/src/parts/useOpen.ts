import { useSignal } from '@preact/signals'

/** What is shown on demand, such as a dialog, by what it is about; undefined = it is not shown. */
export function useShown<Subject>() {
  const subject = useSignal<Subject | undefined>(undefined)
  return {
    shown: subject.value,
    show: (of: Subject): void => {
      subject.value = of
    },
    hide: (): void => {
      subject.value = undefined
    },
  }
}

/** The same for what is about nothing in particular. */
export function useOpen() {
  const { shown, show, hide } = useShown<true>()
  return { isOpen: shown === true, open: () => show(true), close: hide }
}
