import { isolated, number } from "../format.ts";
import type { KeyTexts } from "./text.en.ts";

export const text: KeyTexts = {
  actions: {
    next: "التالي",
    previous: "السابق",
    choose: "اختيار إجابة",
    tick: "تحديد",
    takeOut: "استبعاد من هنا",
    send: "الإرسال، أو المتابعة",
    open: "فتح",
    undo: "التراجع قبل الإرسال",
    approve: "الموافقة، بعد سؤال تأكيد",
    changes: "طلب تعديلات، بعد سؤال تأكيد",
    reject: "الرفض، بعد سؤال تأكيد",
    snooze: "التأجيل حتى وقت تختاره",
    takeBack: "التراجع عن آخر قرار",
    handOn: "التسليم إلى شخص آخر",
    askBack: "سؤال الوكيل قبل القرار",
    edit: "تعديل الوسائط",
    begin: "محادثة جديدة",
    write: "كتابة إجابة",
    newTask: "مهمة جديدة",
    search: "بحث",
    palette: "البحث عن إجراء",
    list: "عرض المفاتيح",
  },
  now: "في هذه الشاشة",
  elsewhere: "في شاشات أخرى من هذا القسم",
  off: "اختصارات المفتاح الواحد متوقفة. يمكن تشغيلها في «صفحتي».",
  find: "إجراء أو طلب أو قسم",
  found: (n) => (n === 0 ? "لم يُعثر على شيء" : `النتائج: ${number(n)}`),
  commands: {
    open: (sentence) => `فتح: ${isolated(sentence)}`,
    show: (filter) => `إظهار: ${filter}`,
    go: (place) => `الانتقال إلى: ${place}`,
  },
};
