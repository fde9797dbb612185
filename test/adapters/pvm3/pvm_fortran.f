! SPDX-License-Identifier: MIT
! pvm_fortran.f -- PVM from Fortran: each routine once, at least.
      program main
      include 'fpvm3.h'
      integer tid, n, i, me, info, bufid, other, bytes, tag, src
      integer at, ag, al, host, nhost, narch, speed, ptid, flag
      integer words(6), got(6), ctx, old, a, b, c, d, e, f
      integer*2 halves(3), all(16)
      double precision reals(4), more(4)
      complex cplx
      character*8 name, text
      character*20 arch
      character*1 byte
      call pvmfmytid(tid)
      if (tid .le. 0) stop 1
      call pvmfsetopt(PVMAUTOERR, 0, old)
      if (old .ne. 1) stop 2
      call pvmfgetopt(PVMAUTOERR, old)
      if (old .ne. 0) stop 3
      call pvmfparent(other)
      if (other .ne. PvmNoParent) stop 4
      call pvmfsiblings(n, -1, other)
      me = -1
      do i = 0, n - 1
        call pvmfsiblings(bytes, i, other)
        if (other .eq. tid) me = i
      end do
      if (me .lt. 0) stop 5
      call pvmfsiblings(info, n, other)
      if (info .ne. PvmNoTask) stop 6
      call pvmfsiblings(info, 0, other)

! Each gets of all
      do i = 1, 6
        words(i) = 100 * me + i
      end do
      halves = (/ 1_2, -2_2, 3_2 /)
      reals = (/ 1d0, 2d0, 3d0, 4d0 /)
      cplx = (1.5, -2.5)
      call pvmfinitsend(PVMDEFAULT, bufid)
      if (bufid .le. 0) stop 7
      call pvmfpack(INTEGER4, words, 3, 2, info)
      call pvmfpack(INTEGER2, halves, 3, 1, info)
      call pvmfpack(REAL8, reals, 4, 1, info)
      call pvmfpack(COMPLEX8, cplx, 1, 1, info)
      call pvmfpack(BYTE1, 'x', 1, 1, info)
      call pvmfpack(STRING, 'short', 5, 1, info)
      call pvmfpack(STRING, 'much too long', 13, 1, info)
      if (info .ne. PvmOk) stop 8
      call pvmfpack(17, words, 1, 1, info)
      if (info .ne. PvmBadParam) stop 9
      do i = 0, n - 1
        call pvmfsiblings(bytes, i, other)
        call pvmfsend(other, 4, info)
      end do
      do i = 0, n - 1
        call pvmfsiblings(bytes, i, other)
        call pvmfrecv(other, 4, bufid)
        call pvmfbufinfo(bufid, bytes, tag, src, info)
        if (tag .ne. 4 .or. src .ne. other .or. info .ne. 0) stop 10
        got = 0
        call pvmfunpack(INTEGER4, got, 3, 1, info)
        if (got(3) .ne. 100 * i + 5 .or. got(4) .ne. 0) stop 11
        halves = 0_2
        call pvmfunpack(INTEGER2, halves, 3, 1, info)
        if (halves(2) .ne. -2_2) stop 12
        more = 0
        call pvmfunpack(REAL8, more, 4, 1, info)
        if (more(4) .ne. 4d0) stop 13
        cplx = 0
        call pvmfunpack(COMPLEX8, cplx, 1, 1, info)
        if (cplx .ne. (1.5, -2.5)) stop 14
        call pvmfunpack(BYTE1, byte, 1, 1, info)
        if (byte .ne. 'x') stop 15
        name = 'zzzzzzzz'
        call pvmfunpack(STRING, name, 8, 1, info)
        if (name .ne. 'short   ') stop 16
        call pvmfunpack(STRING, name, 8, 1, info)
        if (name .ne. 'much too') stop 17
        call pvmfunpack(INTEGER4, got, 1, 1, info)
        if (info .ne. PvmNoData) stop 18
      end do

! Buffers and messages
      call pvmfgetsbuf(a)
      call pvmfmkbuf(PVMRAW, b)
      call pvmfsetsbuf(b, c)
      if (a .ne. c .or. b .le. 0) stop 20
      call pvmfpkmesg(a, info)
      if (info .ne. 0) stop 21
      call pvmfpkmesgbody(a, info)
      if (info .ne. PvmMismatch) stop 22
      call pvmfsend(tid, 5, info)
      call pvmfnrecv(tid, 5, c)
      call pvmfgetrbuf(d)
      if (c .ne. d .or. c .le. 0) stop 23
      call pvmfupkmesg(e)
      call pvmfsetrbuf(e, f)
      if (f .ne. c) stop 24
      call pvmfunpack(INTEGER4, got, 3, 1, info)
      if (got(2) .ne. 100 * me + 3) stop 25
      call pvmfgetminfo(e, a, ctx, tag, b, d, f, src, other, info)
      if (info .ne. 0 .or. src .ne. tid .or. d .ne. 268435456) stop 26
      call pvmfsetminfo(e, ctx, 77, 8, src, other, info)
      call pvmfgetminfo(e, a, ctx, tag, b, d, f, src, other, info)
      if (tag .ne. 77 .or. b .ne. 8) stop 27
      call pvmffreebuf(e, info)
      if (info .ne. 0) stop 28
      call pvmfpsend(tid, 6, reals, 4, REAL8, info)
      call pvmfprobe(-1, 6, bufid)
      if (info .ne. 0 .or. bufid .le. 0) stop 29
      more = 0
      call pvmfprecv(-1, 6, more, 4, REAL8, at, ag, al, info)
      if (at .ne. tid .or. ag .ne. 6 .or. al .ne. 32) stop 30
      if (more(3) .ne. 3d0 .or. info .ne. 0) stop 31
      call pvmfpsend(tid, 6, reals, 4, 99, info)
      if (info .ne. PvmBadParam) stop 32
      call pvmftrecv(-1, 6, 0, 1000, bufid)
      if (bufid .ne. 0) stop 33
      got(1) = tid
      call pvmfmcast(1, got, 6, info)
      if (info .ne. 0) stop 34
      call pvmfsend(tid, 7, info)
      call pvmftrecv(-1, 7, -1, 0, bufid)
      if (bufid .le. 0) stop 35

! Hosts, contexts and others
      call pvmfconfig(nhost, narch, host, name, arch, speed, info)
      if (nhost .lt. 1 .or. speed .ne. 1000 .or. info .ne. 0) stop 40
      call pvmfarchcode(arch, a)
      if (a .le. 0) stop 41
      call pvmfarchcode('CRAY   ', a)
      if (a .ne. PvmNotFound) stop 42
      call pvmftidtohost(tid, a)
      call pvmftidtoh(tid, b)
      if (a .ne. b .or. a .le. 0) stop 43
      call pvmfhostsync(a, b, c, d, e, info)
      if (info .ne. 0 .or. b .lt. 1000000 .or. d .ne. 0) stop 44
      b = -1
      do i = 0, n - 1
        call pvmftasks(0, b, c, ptid, d, flag, text, info)
        if (b .ne. n .or. info .ne. 0 .or. ptid .ne. 0) stop 45
        if (c .le. 0 .or. text .ne. 'pvm_fort') stop 46
      end do
      call pvmfnewcontext(ctx)
      call pvmfsetcontext(ctx, old)
      call pvmfgetcontext(a)
      if (a .ne. ctx .or. old .ne. 0) stop 47
      call pvmfsetcontext(old, a)
      call pvmffreecontext(ctx, info)
      if (info .ne. 0) stop 48
      call pvmfexport('HOME   ', info)
      if (info .ne. 0) stop 49
      call pvmfunexport('HOME', info)
      if (info .ne. 0) stop 50

! Groups and mailboxes
      call pvmfjoingroup('all  ', a)
      if (a .lt. 0) stop 60
      call pvmfbarrier('all', n, info)
      if (info .ne. 0) stop 61
      call pvmfgsize('all', b)
      if (b .ne. n) stop 62
      call pvmfgettid('all', a, other)
      if (other .ne. tid) stop 63
      call pvmfgetinst('all', tid, b)
      if (a .ne. b) stop 64
      words(1) = a + 1
      words(2) = 10
      call pvmfreduce(PVMSUM, words, 2, INTEGER4, 3, 'all', 0, info)
      if (info .ne. 0) stop 65
      if (a .eq. 0 .and. words(1) .ne. n * (n + 1) / 2) stop 66
      if (a .eq. 0 .and. words(2) .ne. 10 * n) stop 67
      halves(1) = int(a, 2)
      call pvmfgather(all, halves, 1, INTEGER2, 4, 'all', 0, info)
      if (info .ne. 0) stop 68
      do i = 1, n
        if (a .eq. 0 .and. all(i) .ne. i - 1) stop 69
        all(i) = int(7 * i, 2)
      end do
      call pvmfscatter(halves, all, 1, INTEGER2, 5, 'all', 0, info)
      if (info .ne. 0 .or. halves(1) .ne. 7 * (a + 1)) stop 70
      call pvmfreduce(PVMMAX, reals, 4, REAL8, 6, 'none', 0, info)
      if (info .ne. PvmNoGroup) stop 71
      if (a .eq. 0) then
        call pvmfinitsend(PVMDEFAULT, b)
        call pvmfpack(INTEGER4, 42, 1, 1, info)
        call pvmfputinfo('box', b, PVMMBOXDEFAULT, info)
        if (info .ne. 0) stop 72
      end if
      call pvmfbarrier('all', n, info)
      call pvmfrecvinfo('box', 0, PVMMBOXDEFAULT, b)
      call pvmfunpack(INTEGER4, got, 1, 1, info)
      if (b .le. 0 .or. info .ne. 0 .or. got(1) .ne. 42) stop 73
      info = -1
      call pvmfgetmboxinfo('bo*x', name, b, c, d, e, f, info)
      if (info .ne. 0 .or. name .ne. 'box' .or. b .ne. 1) stop 90
      if (c .ne. 1 .or. d .ne. 0 .or. f .ne. PVMMBOXDEFAULT) stop 91
      call pvmfgettid('all', 0, other)
      if (e .ne. other) stop 92
      call pvmfgetmboxinfo('bo*x', name, b, c, d, e, f, info)
      if (info .ne. PvmNotFound) stop 93
      call pvmfgetmboxinfo('bo*x', name, b, c, d, e, f, info)
      if (info .ne. 0 .or. e .ne. other) stop 94
      call pvmfbarrier('all', n, info)
      call pvmfdelinfo('box', 0, 0, info)
      if (a .eq. 0 .and. info .ne. 0) stop 74
      call pvmfinitsend(PVMDEFAULT, b)
      call pvmfbcast('all', 12, info)
      if (info .ne. 0) stop 75
      do i = 2, n
        call pvmfrecv(-1, 12, bufid)
        if (bufid .le. 0) stop 76
      end do
      call pvmffreezegroup('all', n, info)
      if (info .ne. 0) stop 77
      call pvmflvgroup('all', info)
      if (info .ne. 0) stop 78
      if (a .eq. 0) then
        call pvmfaddhost('more ep=/opt local', info)
        if (info .ne. 1) stop 95
        call pvmfdelhost('more', info)
        if (info .ne. 1) stop 97
        call pvmfdelhost('more', info)
        if (info .ne. PvmNoHost) stop 98
        call pvmfcatchout(1, info)
        call pvmfgetopt(PVMOUTPUTTID, old)
        if (info .ne. 0 .or. old .ne. tid) stop 99
        call pvmfcatchout(0, info)
        call pvmfgetopt(PVMOUTPUTTID, old)
        if (info .ne. 0 .or. old .ne. 0) stop 100
      end if
      call pvmfstartpvmd('-d0 ', 1, info)
      if (info .ne. PvmDupHost) stop 101
      call pvmfspawn('no such', PVMHOST, 'nowhere', 1, got, b)
      if (b .ne. PvmNoHost) stop 79
      call pvmfpstat(tid, info)
      if (info .ne. 0) stop 80
      call pvmfkill(tid, info)
      if (info .ne. PvmBadParam) stop 81
      call pvmfsendsig(tid, 0, info)
      if (info .ne. 0) stop 82
      call pvmfmstat('nowhere', info)
      if (info .ne. PvmNoHost) stop 83
      got(1) = 3
      call pvmfnotify(PVMTASKEXIT, 3, 1, got, info)
      if (info .ne. PvmBadParam) stop 84
      if (me .eq. 0) print '(a,i3,a)', 'fortran', n, ': well'
      call pvmfexit(info)
      if (info .ne. 0) stop 51
      end
